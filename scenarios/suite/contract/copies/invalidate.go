package copies

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// InvalidateChecks check invalidate messages [D4].
var InvalidateChecks = []kit.Check{
	{Name: "copy/invalidate", Rules: "D1 D4 D5 D6", Stalls: kit.Stalled, Run: invalidate},
	{Name: "copy/ranges that cannot be invalidated", Rules: "D1", Stalls: kit.Calm, Run: badRanges},
}

// message holds the fields of a message TLP that checks compare.
type message struct {
	tlp.Header
	data []byte
}

// invalidation returns the message that [D4] requires for a range.
func invalidation(bus uint64, n int) message {
	data := make([]byte, nicspec.InvalidateMsgSize)
	binary.LittleEndian.PutUint64(data, bus)
	binary.LittleEndian.PutUint32(data[8:], uint32(n/nicspec.LineBytes))
	return message{tlp.Header{Kind: tlp.MsgD, Length: uint16(len(data) / 4), RequesterID: nicspec.RequesterNic,
		Code:    nicspec.InvalidateCode,
		Routing: tlp.RouteByID, TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor}, data}
}

func invalidate(r *kit.Rig) {
	x, w := CopySetup(r, 7, 4)
	var got []message
	r.Root.OnMessage = func(h *tlp.Header, data []byte) { got = append(got, message{*h, append([]byte(nil), data...)}) }
	for i, lines := range []int{1, 2, 3, 63, 64, 65, 1000} {
		n := lines * nicspec.LineBytes
		data := kit.Pattern(n, uint64(i))
		s := r.Piece(w[0], 0, 64, data)
		d := r.Destination(w[i%2], i*9, 64, n)
		c := kit.CopyEntry(nicspec.OpcodeCopyInvalidate, s, d)
		written, early := map[uint64]int{}, false
		count := writes(r, written)
		r.Watch = func(x boundary.Crossing) {
			count(x)
			if h := tlp.Parse(&x.TLP.Hdr); x.Kind == boundary.TLPOut && h.Kind == tlp.MsgD {
				early = len(written) != n // all data must be written, the completion entry not yet
			}
		}
		r.Transmit(x, c)
		require.Equal(r.T, []message{invalidation(r.BusOf(s), n)}, got, "CopyInvalidate of %d lines", lines)
		require.False(r.T, early, "the message leaves after the writes and before the completion entry")
		r.Watch = nil
		r.CheckDestination(d, data)
		got = nil
		inv := kit.CopyEntry(nicspec.OpcodeInvalidate, s)
		r.Counted("Invalidate", kit.Steps{kit.DevCounter(nicspec.CntTxWqe): 1, kit.DevCounter(nicspec.CntTxCqe): 1},
			func() { r.Transmit(x, inv) })
		require.Equal(r.T, []message{invalidation(r.BusOf(s), n)}, got, "Invalidate of %d lines", lines)
		got = nil
		inv.FComplete = false
		r.Transmit(x, inv, kit.CopyEntry(nicspec.OpcodeCopy, s, d), inv, r.Sound(w[1], 3))
		r.Quiet()
		require.Equal(r.T, []message{invalidation(r.BusOf(s), n), invalidation(r.BusOf(s), n)}, got)
		got = nil
	}
	big := Wide(r, 9, nicspec.EndpointArm, 2*nicspec.CopyMax)
	r.Transmit(x,
		kit.CopyEntry(nicspec.OpcodeInvalidate, nicspec.SegFields{Key: big.ID, Addr: big.Va, Len: nicspec.CopyMax}))
	require.Equal(r.T, []message{invalidation(big.Bus, nicspec.CopyMax)}, got)
}

// badRanges copies to and from ranges that are not whole lines of Arm memory.
func badRanges(r *kit.Rig) {
	x, w := CopySetup(r, 7, 4)
	r.Root.OnMessage = func(h *tlp.Header, _ []byte) { r.T.Errorf("message %v", h) }
	var all []nicspec.WqeFields
	for _, c := range []struct{ window, skew, n int }{{0, 1, 64}, {0, 32, 64}, {0, 63, 128}, {0, 0, 1}, {0, 0, 63},
		{0, 0, 65}, {0, 0, 4095}, {1, 0, 64}, {1, 0, 4096}} {
		s := r.Piece(w[c.window], c.skew, 64, kit.Pattern(c.n, 1))
		all = append(all, kit.CopyEntry(nicspec.OpcodeInvalidate, s),
			kit.CopyEntry(nicspec.OpcodeCopyInvalidate, s, r.Destination(w[0], 0, 64, c.n)))
	}
	n := len(all)
	r.Counted("ranges that cannot be invalidated",
		kit.Steps{}.With(kit.DevCounter(nicspec.CntTxWqe), n).With(kit.DevCounter(nicspec.CntTxErr),
			n).With(kit.DevCounter(nicspec.CntTxCqe), n), func() {
			r.Transmit(x, all...)
		})
	for i := 1; i < n; i += 2 {
		d := kit.Segments(&all[i])[1]
		r.CheckDestination(d, kit.Pattern(int(d.Len)+2*kit.Guard, uint64(d.Len))[kit.Guard:kit.Guard+int(d.Len)])
	}
}
