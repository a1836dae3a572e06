package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var layoutChecks = []check{
	{"receive/lengths, splits and addresses, MPS 128", "R8 R10 P1 P2 P3 P4 P9 B3 B5 B6", stalled, func(r *rig) { layouts(r, 0) }},
	{"receive/lengths, splits and addresses, MPS 256", "R8 R10 P3 P4 G8", calm, func(r *rig) { layouts(r, 1) }},
	{"receive/lengths, splits and addresses, MPS 512", "R8 R10 P3 P4 G8", calm, func(r *rig) { layouts(r, 2) }},
	{"receive/MPS that is none", "R10 P3", calm, func(r *rig) { layouts(r, 7) }},
	{"receive/every MPS that is none", "R10 P3", calm, strangeLimits},
	{"receive/lengths of header buffers", "R8", calm, headerBuffers},
	{"receive/pages", "R10 P3", stalled, pages},
}

// lengths of frames, about every limit: the shortest and the longest, beats, payloads of TLPs.
var lengths = []int{60, 61, 62, 63, 64, 65, 66, 67, 68, 127, 128, 129, 191, 192, 193, 255, 256, 257, 511, 512, 513, 1023, 1024,
	1025, 1499, 1500, 1514, 4096, 4097, 9215, 9216}

// layout is a header split.
type layout struct {
	mode nicspec.SplitMode
	len  int
}

var splits = []layout{
	{nicspec.SplitModeNone, 0},
	{nicspec.SplitModeFixed, 0}, {nicspec.SplitModeFixed, 1}, {nicspec.SplitModeFixed, 2}, {nicspec.SplitModeFixed, 63},
	{nicspec.SplitModeFixed, 64}, {nicspec.SplitModeFixed, 65}, {nicspec.SplitModeFixed, 127}, {nicspec.SplitModeFixed, 128},
	{nicspec.SplitModeFixed, 129}, {nicspec.SplitModeFixed, 256}, {nicspec.SplitModeFixed, 0xffff}, {nicspec.SplitModeHeaders, 0},
}

// frameOf is a frame of n bytes with headers that differ from one to the next.
func frameOf(n int) []byte {
	p := rocePacket(0)
	if n%3 == 1 {
		p = udpPacket(0)
	}
	p.tags = [][]uint32{nil, {tpidC<<16 | 7}, {tpidS<<16 | 8, tpidC<<16 | 9}}[n%7%3]
	p.l3 = []int{4, 6}[n%2]
	bare := len(p.build())
	if n < bare {
		return blob(n, uint64(n))
	}
	p.payload, p.seed = n-bare, uint64(n)
	return p.build()
}

// layouts delivers frames of all lengths with all splits to buffers at all offsets.
func layouts(r *rig, mps uint32) {
	r.setDevctl(mps, 2, 0)
	r.receiveAll(0)
	for q, s := range splits {
		x := r.openRx(q, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = s.mode, uint16(s.len)
			f.HdrBufSize, f.PayBufSize = 256, nicspec.FrameMax
		})
		r.toQueue(q)
		r.synced()
		first := r.ordinal()
		for i, n := range lengths {
			h, p := r.buffers((i*11+q)%64, (i*5+q*3)%64)
			r.put(x, h, p)
			r.play(frameOf(n))
		}
		r.tell(&x.ring)
		for i := range lengths {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		r.nothing(&x.ring)
	}
}

// headerBuffers has headers that are longer than their buffer, and frames that just fit or do not.
func headerBuffers(r *rig) {
	r.receiveAll(0)
	q := 0
	for _, mode := range []nicspec.SplitMode{nicspec.SplitModeFixed, nicspec.SplitModeHeaders} {
		for _, buf := range []int{1, 13, 54, 64, 66, 200} {
			const frame, pay = 500, 1000
			x := r.openRx(q, 2, func(f *nicspec.RxqEntryFields) {
				f.SplitMode, f.SplitLen, f.HdrBufSize, f.PayBufSize = mode, 100, uint16(buf), pay
			})
			r.toQueue(q)
			r.synced()
			r.post(x, 4)
			first := r.ordinal()
			p := rocePacket(frame)
			h := parsed(p.build(), r.roce)
			h.FrameLen = frame
			most := pay + x.split(&h, frame) // bytes that fit
			r.counted(fmt.Sprintf("frames of %d and %d B", most, most+1), steps{
				port(nicspec.CntRxDropTooLong): 2, port(nicspec.CntRxFrames): 4, port(nicspec.CntRxBytes): free,
				port(nicspec.CntRxDelivered): 2, dev(nicspec.CntRxCqe): 2,
			}, func() {
				for _, n := range []int{most, most + 1, most + 9, 60} {
					r.play(exactly(rocePacket(0), n))
				}
				r.delivered(x, first, nicspec.RuleNone)
				r.delivered(x, first+3, nicspec.RuleNone)
			})
			q++
		}
	}
}

// exactly makes a frame of n bytes, padded after the packet where it is too short.
func exactly(p pkt, n int) []byte {
	bare := len(p.build())
	if n < bare {
		return p.build()[:n]
	}
	p.payload = n - bare
	return p.build()
}

// pages has buffers that start and end about 4 KB boundaries.
func pages(r *rig) {
	x := r.openRx(3, 6, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 150 })
	r.receiveAll(3)
	first, n := r.ordinal(), 0
	for _, before := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 149, 150, 151, 255, 256, 257} {
		for _, size := range []int{300, 4500, 9216} {
			h := r.alloc(n%2, 3*4096, 4096) + 4096 - uint64(before)
			p := r.alloc((n+1)%2, 5*4096, 4096) + 4096 - uint64(before)
			r.put(x, h, p)
			r.play(frameOf(size))
			n++
		}
	}
	r.tell(&x.ring)
	for i := range n {
		r.delivered(x, first+i, nicspec.RuleNone)
	}
	r.nothing(&x.ring)
}

// strangeLimits sets every value of DEVCTL.mps that counts as 0.
func strangeLimits(r *rig) {
	r.receiveAll(1)
	x := r.openRx(1, 4, nil)
	r.post(x, 8)
	for mps := uint32(3); mps < 8; mps++ {
		r.quiet()
		r.setDevctl(mps, 2, 0)
		r.synced()
		longest := 0
		r.watch = func(c boundary.Crossing) {
			if h := tlp.Parse(&c.TLP.Hdr); c.Kind == boundary.TLPOut && h.Kind == tlp.MWr {
				longest = max(longest, int(h.Length)*tlp.DWBytes)
			}
		}
		first := r.ordinal()
		r.play(blob(2000, uint64(mps)))
		r.delivered(x, first, nicspec.RuleNone)
		r.watch = nil
		require.LessOrEqual(r.t, longest, 128, "longest write with mps %d", mps)
	}
}
