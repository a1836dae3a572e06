package pcie

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// CompletionChecks answer reads with completions that no endpoint sends: with each status, and wrong in one or two
// ways.
var CompletionChecks = []kit.Check{
	{Name: "transmit errors/completions by hand", Rules: "P6 P7 T6", Stalls: kit.Stalled, Run: completionsByHand},
}

// completionCase is a change to a correct completion, and the status that the work entry must have whose read it
// answers.
type completionCase struct {
	name string
	mod  func(*kit.Completion)
	want nicspec.Status
}

// misfits returns the changes by which a completion does not fit its request.
func misfits() []completionCase {
	const misfit = nicspec.StatusCplMalformed
	all := []completionCase{
		{"a byte more to come", func(c *kit.Completion) { c.ByteCount++ }, misfit},
		{"a byte less to come", func(c *kit.Completion) { c.ByteCount-- }, misfit},
		{"four bytes more to come", func(c *kit.Completion) { c.ByteCount += 4 }, misfit},
		{"four bytes less to come", func(c *kit.Completion) { c.ByteCount -= 4 }, misfit},
		{"4 KB to come", func(c *kit.Completion) { c.ByteCount = tlp.PageBytes }, misfit},
		{"byte count wrong in bit 11", func(c *kit.Completion) { c.ByteCount ^= 1 << 11 }, misfit},
		{"a DW too long", func(c *kit.Completion) { c.Length++; c.Data = append(c.Data, 1, 2, 3, 4) }, misfit},
		{"without data", bare, misfit},
	}
	for bit := range 7 {
		all = append(all, completionCase{fmt.Sprintf("bit %d of the lower address", bit),
			func(c *kit.Completion) { c.LowerAddr ^= 1 << bit }, misfit})
	}
	return all
}

func bare(c *kit.Completion) { c.Kind, c.Length, c.Data = tlp.Cpl, 0, nil }

// completionCases returns all cases. If a completion has several faults, the device must report an unsuccessful status
// rather than poison, and poison rather than fields that do not fit the request (misfits).
func completionCases() []completionCase {
	all := []completionCase{{"right", func(*kit.Completion) {}, nicspec.StatusOk}}
	misfits := misfits()
	for s := tlp.StatusUR; s <= 7; s++ {
		want := nicspec.StatusCplAbort
		if s == tlp.StatusUR {
			want = nicspec.StatusCplUnsupported
		}
		status := func(name string, mod func(*kit.Completion)) {
			all = append(all,
				completionCase{fmt.Sprintf("status %d%s", s, name), func(c *kit.Completion) { mod(c); c.Status = s },
					want})
		}
		status("", bare)
		status(" with data", func(*kit.Completion) {})
		status(" and poison", func(c *kit.Completion) { bare(c); c.EP = true })
		status(" and poison, with data", func(c *kit.Completion) { c.EP = true })
		m := misfits[s]
		status(" and "+m.name, func(c *kit.Completion) { m.mod(c); c.EP = s%2 > 0 })
	}
	for _, m := range misfits {
		all = append(all, m, completionCase{"poison and " + m.name, func(c *kit.Completion) { m.mod(c); c.EP = true },
			nicspec.StatusCplPoison})
	}
	return append(all, completionCase{"poison", func(c *kit.Completion) { c.EP = true }, nicspec.StatusCplPoison})
}

// completionsByHand posts a piece whose reads the endpoint does not answer. A changed completion answers the first
// read, correct ones the others. After the entry has failed, the correct answer to the first read arrives as well, and
// must count as unexpected.
func completionsByHand(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, 50_000)
	x, w := r.TxSetup(3, 4)
	cases := completionCases()
	r.Quiet()
	before, failed, bytes := r.Counters(), 0, 0
	for i, c := range cases {
		const n = 100
		s := r.Piece(w[i%2], 5+i%64, 128, kit.Pattern(n, uint64(i)))
		reads := leaveUnanswered(r, r.BusOf(s), n)
		first := x.PI
		all := r.Enqueue(x, kit.SendEntry(nil, s))
		r.RingDoorbell(&x.Ring)
		r.Until("the piece is asked for",
			func() bool { return reads.left == 0 && r.Bed.Faults.Hits() == len(reads.all) })
		r.Bed.Faults.Clear()
		for k := range reads.all {
			right := rightAnswer(r, &reads.all[k])
			if k == 0 {
				c.mod(&right)
			}
			r.Send(right.Header, right.Data)
		}
		require.Equal(r.T, c.want, r.TxCqe(x).Status(), c.name)
		if c.want == nicspec.StatusOk {
			r.CameOut(x.Number, &all[0], first)
			bytes += n
			continue
		}
		failed++
		right := rightAnswer(r, &reads.all[0])
		r.Send(right.Header, right.Data)
		r.Quiet()
	}
	r.Watch = nil
	n := len(cases)
	r.Moved("completions by hand", before, kit.Steps{kit.DevCounter(nicspec.CntCplErr): uint64(failed),
		kit.DevCounter(nicspec.CntCplUnexpected): uint64(failed)}.
		With(kit.DevCounter(nicspec.CntTxWqe), n).With(kit.DevCounter(nicspec.CntTxErr),
		failed).With(kit.DevCounter(nicspec.CntTxCqe), n).
		With(kit.PortCounter(nicspec.CntTxFrames), n-failed).With(kit.PortCounter(nicspec.CntTxBytes), bytes))
	r.NoFrames()
}

// unanswered records the device's reads in a range; the endpoint does not answer them.
type unanswered struct {
	all  []tlp.Header
	left int // bytes not yet requested
}

func leaveUnanswered(r *kit.Rig, bus uint64, n int) *unanswered {
	r.T.Helper()
	u := &unanswered{left: n}
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: bus, To: bus + uint64(n)}))
	r.Watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		off, bytes := h.Span()
		if at := h.Address + uint64(off); c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && at >= bus &&
			at < bus+uint64(n) {
			u.all, u.left = append(u.all, h), u.left-bytes
		}
	}
	return u
}

// rightAnswer returns a single completion that answers a read completely.
func rightAnswer(r *kit.Rig, h *tlp.Header) kit.Completion {
	r.T.Helper()
	off, n := h.Span()
	return kit.Completion{Header: tlp.Header{Kind: tlp.CplD, Length: h.Length, ByteCount: uint16(n),
		LowerAddr:   uint8(h.Address+uint64(off)) & 0x7f,
		RequesterID: nicspec.RequesterNic, Tag: h.Tag}, Data: r.Load(h.Address, int(h.Length)*tlp.DWBytes)}
}
