package contract

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var invalidateChecks = []check{
	{"copy/invalidate", "D1 D4 D5 D6", stalled, invalidate},
	{"copy/ranges that cannot be invalidated", "D1", calm, badRanges},
}

// message is a message of the device.
type message struct {
	tlp.Header
	data []byte
}

// invalidation is the message that [D4] gives for a range.
func invalidation(bus uint64, n int) message {
	data := make([]byte, nicspec.InvalidateMsgSize)
	binary.LittleEndian.PutUint64(data, bus)
	binary.LittleEndian.PutUint32(data[8:], uint32(n/nicspec.LineBytes))
	return message{tlp.Header{Kind: tlp.MsgD, Length: uint16(len(data) / 4), RequesterID: nicspec.RequesterNic, Code: nicspec.InvalidateCode,
		Routing: tlp.RouteByID, TargetID: nicspec.RequesterArm, VendorID: nicspec.InvalidateVendor}, data}
}

func invalidate(r *rig) {
	x, w := r.copySetup(7, 4)
	var got []message
	r.root.OnMessage = func(h *tlp.Header, data []byte) { got = append(got, message{*h, append([]byte(nil), data...)}) }
	for i, lines := range []int{1, 2, 3, 63, 64, 65, 1000} {
		n := lines * nicspec.LineBytes
		data := pattern(n, uint64(i))
		s := r.piece(w[0], 0, 64, data)
		d := r.hole(w[i%2], i*9, 64, n)
		c := copyEntry(nicspec.OpcodeCopyInvalidate, s, d)
		written, early := map[uint64]int{}, false
		count := r.writes(written)
		r.watch = func(x boundary.Crossing) {
			count(x)
			if h := tlp.Parse(&x.TLP.Hdr); x.Kind == boundary.TLPOut && h.Kind == tlp.MsgD {
				early = len(written) != n // no completion entry may have left either
			}
		}
		r.transmit(x, c)
		require.Equal(r.t, []message{invalidation(r.busOf(s), n)}, got, "CopyInvalidate of %d lines", lines)
		require.False(r.t, early, "the message leaves after the writes and before the completion entry")
		r.watch = nil
		r.filled(d, data)
		got = nil
		inv := copyEntry(nicspec.OpcodeInvalidate, s)
		r.counted("Invalidate", steps{dev(nicspec.CntTxWqe): 1, dev(nicspec.CntTxCqe): 1}, func() { r.transmit(x, inv) })
		require.Equal(r.t, []message{invalidation(r.busOf(s), n)}, got, "Invalidate of %d lines", lines)
		got = nil
		inv.FComplete = false
		r.transmit(x, inv, copyEntry(nicspec.OpcodeCopy, s, d), inv, r.sound(w[1], 3))
		r.quiet()
		require.Equal(r.t, []message{invalidation(r.busOf(s), n), invalidation(r.busOf(s), n)}, got)
		got = nil
	}
	big := r.wide(9, nicspec.EndpointArm, 2*nicspec.CopyMax)
	r.transmit(x, copyEntry(nicspec.OpcodeInvalidate, nicspec.SegFields{Key: big.id, Addr: big.va, Len: nicspec.CopyMax}))
	require.Equal(r.t, []message{invalidation(big.bus, nicspec.CopyMax)}, got)
}

// badRanges names ranges that are no whole lines of Arm memory.
func badRanges(r *rig) {
	x, w := r.copySetup(7, 4)
	r.root.OnMessage = func(h *tlp.Header, _ []byte) { r.t.Errorf("message %v", h) }
	var all []nicspec.WqeFields
	for _, c := range []struct{ window, skew, n int }{{0, 1, 64}, {0, 32, 64}, {0, 63, 128}, {0, 0, 1}, {0, 0, 63}, {0, 0, 65}, {0, 0, 4095}, {1, 0, 64}, {1, 0, 4096}} {
		s := r.piece(w[c.window], c.skew, 64, pattern(c.n, 1))
		all = append(all, copyEntry(nicspec.OpcodeInvalidate, s), copyEntry(nicspec.OpcodeCopyInvalidate, s, r.hole(w[0], 0, 64, c.n)))
	}
	n := len(all)
	r.counted("ranges that cannot be invalidated", steps{}.with(dev(nicspec.CntTxWqe), n).with(dev(nicspec.CntTxErr), n).with(dev(nicspec.CntTxCqe), n), func() {
		r.transmit(x, all...)
	})
	for i := 1; i < n; i += 2 {
		d := segments(&all[i])[1]
		r.filled(d, pattern(int(d.Len)+2*guard, uint64(d.Len))[guard:guard+int(d.Len)])
	}
}
