package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// handChecks answer reads by hand: what the endpoint never sends, each status, and completions that are wrong in two ways.
var handChecks = []check{
	{"transmit errors/completions by hand", "P6 P7 T6", stalled, completionsByHand},
}

// handmade is a change of a completion that is right, and how its request ends then.
type handmade struct {
	name string
	mod  func(*completion)
	want nicspec.Status
}

// spoilt are ways in which a completion does not fit.
func spoilt() []handmade {
	const misfit = nicspec.StatusCplMalformed
	all := []handmade{
		{"a byte more to come", func(c *completion) { c.ByteCount++ }, misfit},
		{"a byte less to come", func(c *completion) { c.ByteCount-- }, misfit},
		{"four bytes more to come", func(c *completion) { c.ByteCount += 4 }, misfit},
		{"four bytes less to come", func(c *completion) { c.ByteCount -= 4 }, misfit},
		{"4 KB to come", func(c *completion) { c.ByteCount = tlp.PageBytes }, misfit},
		{"byte count wrong in bit 11", func(c *completion) { c.ByteCount ^= 1 << 11 }, misfit},
		{"a DW too long", func(c *completion) { c.Length++; c.data = append(c.data, 1, 2, 3, 4) }, misfit},
		{"without data", bare, misfit},
	}
	for bit := range 7 {
		all = append(all, handmade{fmt.Sprintf("bit %d of the lower address", bit), func(c *completion) { c.LowerAddr ^= 1 << bit }, misfit})
	}
	return all
}

func bare(c *completion) { c.Kind, c.Length, c.data = tlp.Cpl, 0, nil }

// handmades are all cases: a status is looked at before poison, and poison before what does not fit.
func handmades() []handmade {
	all := []handmade{{"right", func(*completion) {}, nicspec.StatusOk}}
	misfits := spoilt()
	for s := tlp.StatusUR; s <= 7; s++ {
		want := nicspec.StatusCplAbort
		if s == tlp.StatusUR {
			want = nicspec.StatusCplUnsupported
		}
		status := func(name string, mod func(*completion)) {
			all = append(all, handmade{fmt.Sprintf("status %d%s", s, name), func(c *completion) { mod(c); c.Status = s }, want})
		}
		status("", bare)
		status(" with data", func(*completion) {})
		status(" and poison", func(c *completion) { bare(c); c.EP = true })
		status(" and poison, with data", func(c *completion) { c.EP = true })
		m := misfits[s]
		status(" and "+m.name, func(c *completion) { m.mod(c); c.EP = s%2 > 0 })
	}
	for _, m := range misfits {
		all = append(all, m, handmade{"poison and " + m.name, func(c *completion) { m.mod(c); c.EP = true }, nicspec.StatusCplPoison})
	}
	return append(all, handmade{"poison", func(c *completion) { c.EP = true }, nicspec.StatusCplPoison})
}

// completionsByHand has a piece of which the endpoint answers no read. The first of them is answered by a completion that is
// changed, the others rightly; when the entry has failed, the right one comes, too, and finds no request.
func completionsByHand(r *rig) {
	r.write(nicspec.RegCplTimeout, 50_000)
	x, w := r.txSetup(3, 4)
	cases := handmades()
	r.quiet()
	before, failed, bytes := r.counters(), 0, 0
	for i, c := range cases {
		const n = 100
		s := r.piece(w[i%2], 5+i%64, 128, pattern(n, uint64(i)))
		reads := r.unanswered(r.busOf(s), n)
		first := x.PI
		all := r.enqueue(x, sendEntry(nil, s))
		r.tell(&x.ring)
		r.until("the piece is asked for", func() bool { return reads.left == 0 && r.b.Faults.Hits() == len(reads.all) })
		r.b.Faults.Clear()
		for k := range reads.all {
			right := r.rightAnswer(&reads.all[k])
			if k == 0 {
				c.mod(&right)
			}
			r.send(right.Header, right.data)
		}
		require.Equal(r.t, c.want, r.txCqe(x).Status(), c.name)
		if c.want == nicspec.StatusOk {
			r.cameOut(x.Number, &all[0], first)
			bytes += n
			continue
		}
		failed++
		right := r.rightAnswer(&reads.all[0])
		r.send(right.Header, right.data)
		r.quiet()
	}
	r.watch = nil
	n := len(cases)
	r.moved("completions by hand", before, steps{dev(nicspec.CntCplErr): uint64(failed), dev(nicspec.CntCplUnexpected): uint64(failed)}.
		with(dev(nicspec.CntTxWqe), n).with(dev(nicspec.CntTxErr), failed).with(dev(nicspec.CntTxCqe), n).
		with(port(nicspec.CntTxFrames), n-failed).with(port(nicspec.CntTxBytes), bytes))
	r.noFrames()
}

// unanswered is reads of a range that the endpoint does not answer.
type unanswered struct {
	all  []tlp.Header
	left int // bytes that were not asked for
}

func (r *rig) unanswered(bus uint64, n int) *unanswered {
	r.t.Helper()
	u := &unanswered{left: n}
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultSilent, From: bus, To: bus + uint64(n)}))
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		off, bytes := h.Span()
		if at := h.Address + uint64(off); c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && at >= bus && at < bus+uint64(n) {
			u.all, u.left = append(u.all, h), u.left-bytes
		}
	}
	return u
}

// rightAnswer is the completion that ends a read, whole and right.
func (r *rig) rightAnswer(h *tlp.Header) completion {
	r.t.Helper()
	off, n := h.Span()
	return completion{tlp.Header{Kind: tlp.CplD, Length: h.Length, ByteCount: uint16(n), LowerAddr: uint8(h.Address+uint64(off)) & 0x7f,
		RequesterID: nicspec.RequesterNic, Tag: h.Tag}, r.load(h.Address, int(h.Length)*tlp.DWBytes)}
}
