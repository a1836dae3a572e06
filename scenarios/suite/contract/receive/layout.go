package receive

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// LayoutChecks check where frames and completion entries are written.
var LayoutChecks = []kit.Check{
	{Name: "receive/lengths, splits and addresses, MPS 128", Rules: "R8 R10 P1 P2 P3 P4 P9 B3 B5 B6",
		Stalls: kit.Stalled, Run: func(r *kit.Rig) { layouts(r, 0) }},
	{Name: "receive/lengths, splits and addresses, MPS 256", Rules: "R8 R10 P3 P4 G8", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { layouts(r, 1) }},
	{Name: "receive/lengths, splits and addresses, MPS 512", Rules: "R8 R10 P3 P4 G8", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { layouts(r, 2) }},
	{Name: "receive/MPS that is none", Rules: "R10 P3", Stalls: kit.Calm, Run: func(r *kit.Rig) { layouts(r, 7) }},
	{Name: "receive/every MPS that is none", Rules: "R10 P3", Stalls: kit.Calm, Run: strangeLimits},
	{Name: "receive/lengths of header buffers", Rules: "R8", Stalls: kit.Calm, Run: headerBuffers},
	{Name: "receive/pages", Rules: "R10 P3", Stalls: kit.Stalled, Run: pages},
}

// Layout is a setting of the header split.
type Layout struct {
	Mode nicspec.SplitMode
	Len  int
}

var Splits = []Layout{
	{nicspec.SplitModeNone, 0},
	{nicspec.SplitModeFixed, 0}, {nicspec.SplitModeFixed, 1}, {nicspec.SplitModeFixed, 2}, {nicspec.SplitModeFixed, 63},
	{nicspec.SplitModeFixed, 64}, {nicspec.SplitModeFixed, 65}, {nicspec.SplitModeFixed, 127},
	{nicspec.SplitModeFixed, 128},
	{nicspec.SplitModeFixed, 129}, {nicspec.SplitModeFixed, 256}, {nicspec.SplitModeFixed, 0xffff},
	{nicspec.SplitModeHeaders, 0},
}

// layouts delivers frames of all lengths with all splits to buffers at all offsets.
func layouts(r *kit.Rig, mps uint32) {
	r.SetDevctl(mps, 2, 0)
	r.ReceiveAll(0)
	for q, s := range Splits {
		x := r.OpenRx(q, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = s.Mode, uint16(s.Len)
			f.HdrBufSize, f.PayBufSize = 256, nicspec.FrameMax
		})
		r.ToQueue(q)
		r.Synced()
		first := r.Ordinal()
		for i, n := range kit.Lengths {
			h, p := r.Buffers((i*11+q)%64, (i*5+q*3)%64)
			r.Put(x, h, p)
			r.Play(kit.FrameOf(n))
		}
		r.RingDoorbell(&x.Ring)
		for i := range kit.Lengths {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		r.Nothing(&x.Ring)
	}
}

// headerBuffers delivers headers that are longer than their buffer, and frames that just fit, or just do not fit, into
// their buffers.
func headerBuffers(r *kit.Rig) {
	r.ReceiveAll(0)
	q := 0
	for _, mode := range []nicspec.SplitMode{nicspec.SplitModeFixed, nicspec.SplitModeHeaders} {
		for _, buf := range []int{1, 13, 54, 64, 66, 200} {
			const frame, pay = 500, 1000
			x := r.OpenRx(q, 2, func(f *nicspec.RxqEntryFields) {
				f.SplitMode, f.SplitLen, f.HdrBufSize, f.PayBufSize = mode, 100, uint16(buf), pay
			})
			r.ToQueue(q)
			r.Synced()
			r.Post(x, 4)
			first := r.Ordinal()
			p := kit.RocePacket(frame)
			h := kit.Parsed(p.Build(), r.Roce)
			h.FrameLen = frame
			most := pay + x.Split(&h, frame) // bytes that fit into the buffers
			r.Counted(fmt.Sprintf("frames of %d and %d B", most, most+1), kit.Steps{
				kit.PortCounter(nicspec.CntRxDropTooLong): 2, kit.PortCounter(nicspec.CntRxFrames): 4,
				kit.PortCounter(nicspec.CntRxBytes):     kit.Free,
				kit.PortCounter(nicspec.CntRxDelivered): 2, kit.DevCounter(nicspec.CntRxCqe): 2,
			}, func() {
				for _, n := range []int{most, most + 1, most + 9, 60} {
					r.Play(exactly(kit.RocePacket(0), n))
				}
				r.Delivered(x, first, nicspec.RuleNone)
				r.Delivered(x, first+3, nicspec.RuleNone)
			})
			q++
		}
	}
}

// exactly returns a frame of n bytes, padded behind a shorter packet.
func exactly(p kit.Packet, n int) []byte {
	bare := len(p.Build())
	if n < bare {
		return p.Build()[:n]
	}
	p.Payload = n - bare
	return p.Build()
}

// pages uses buffers that start and end around 4 KB boundaries.
func pages(r *kit.Rig) {
	x := r.OpenRx(3, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 150 })
	r.ReceiveAll(3)
	first, n := r.Ordinal(), 0
	for _, before := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 149, 150, 151, 255, 256, 257} {
		for _, size := range []int{300, 4500, 9216} {
			h := r.Alloc(n%2, 3*4096, 4096) + 4096 - uint64(before)
			p := r.Alloc((n+1)%2, 5*4096, 4096) + 4096 - uint64(before)
			r.Put(x, h, p)
			r.Play(kit.FrameOf(size))
			n++
		}
	}
	r.RingDoorbell(&x.Ring)
	for i := range n {
		r.Delivered(x, first+i, nicspec.RuleNone)
	}
	r.Nothing(&x.Ring)
}

// strangeLimits sets DEVCTL.mps to every value that has no meaning and counts as 0.
func strangeLimits(r *kit.Rig) {
	r.ReceiveAll(1)
	x := r.OpenRx(1, 4, nil)
	r.Post(x, 8)
	for mps := uint32(3); mps < 8; mps++ {
		r.Quiet()
		r.SetDevctl(mps, 2, 0)
		r.Synced()
		longest := 0
		r.Watch = func(c boundary.Crossing) {
			if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind == tlp.MWr {
				longest = max(longest, int(h.Length)*tlp.DWBytes)
			}
		}
		first := r.Ordinal()
		r.Play(kit.Blob(2000, uint64(mps)))
		r.Delivered(x, first, nicspec.RuleNone)
		r.Watch = nil
		require.LessOrEqual(r.T, longest, 128, "longest write with mps %d", mps)
	}
}
