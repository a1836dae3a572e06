package offloads

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/receive"
)

// TrimChecks check trimming [R14].
var TrimChecks = []kit.Check{
	{Name: "trim/pad counts, headers and splits", Rules: "R8 R10 R14", Stalls: kit.Stalled, Run: trimmedLayouts},
	{Name: "trim/what is not trimmed", Rules: "R14", Stalls: kit.Stalled, Run: notTrimmed},
	{Name: "trim/frames by hand", Rules: "R14 R8", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { trims(r); receive.ParseByHand(r) }},
	{Name: "trim/RoCE opcodes", Rules: "R14 H7", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { trims(r); receive.RoceOpcodes(r) }},
	{Name: "trim/cut short", Rules: "R14", Stalls: kit.Calm, Run: func(r *kit.Rig) { trims(r); receive.CutShort(r) }},
	{Name: "trim/damaged at random", Rules: "R14", Stalls: kit.Calm,
		Run: func(r *kit.Rig) { trims(r); receive.Damaged(r) }},
	{Name: "trim/payload buffers", Rules: "R8 R14", Stalls: kit.Stalled, Run: trimmedTooLong},
	{Name: "trim/queues with and without", Rules: "R14 Q6 R12", Stalls: kit.Stalled, Run: trimmedQueues},
	{Name: "trim/pages", Rules: "R10 R14 P3", Stalls: kit.Calm, Run: trimmedPages},
}

// TrimCrcChecks combine trimming with CRC-32C.
var TrimCrcChecks = []kit.Check{{Name: "trim/with a CRC-32C", Rules: "R14 X3 X4", Stalls: kit.Calm,
	Run: trimmedDigests}}

// TrimEcnChecks combine trimming with ECN.
var TrimEcnChecks = []kit.Check{{Name: "trim/with ECN", Rules: "R14 E1", Stalls: kit.Calm, Run: trimmedMarks}}

// trims makes receive queues that are opened later trim their frames.
func trims(r *kit.Rig) {
	old := r.RxMod
	r.RxMod = func(f *nicspec.RxqEntryFields) {
		f.Trim = 1
		if old != nil {
			old(f)
		}
	}
}

const unwritten = 0xa5 // content of buffers before a frame comes in

// postMarked posts descriptors for frames of a length. The buffers have a known content, so that every write shows.
func postMarked(r *kit.Rig, x *kit.RxRing, n, length int) {
	r.T.Helper()
	mark := make([]byte, length+64)
	for i := range mark {
		mark[i] = unwritten
	}
	for i := range n {
		h, p := r.Buffers((i*7+n)%64, (i*5+n)%64)
		r.Put(x, h, p)
		r.Store(h, mark)
		r.Store(p, mark)
	}
	r.Write(nicspec.RegRxDoorbell(x.Number), uint32(x.PI))
}

// trimmed takes the next frame of a queue and checks that nothing was written behind its placed bytes. It reports
// whether the frame was written untrimmed.
func trimmed(r *kit.Rig, x *kit.RxRing, ordinal int) (whole bool) {
	r.T.Helper()
	index := x.CQI
	e := r.Delivered(x, ordinal, nicspec.RuleNone)
	n, h, p := int(e.FrameLen()), int(e.HdrLen()), int(e.PayLen())
	for k, used := range []int{h, p} {
		rest := r.Load(x.Posted[index][k]+uint64(used), n+64-used)
		for i, b := range rest {
			require.EqualValues(r.T, unwritten, b, "byte %d after the %d of buffer %d that a frame of %d B takes", i,
				used, k, n)
		}
	}
	return h+p == n
}

// trimKinds returns RoCE packets of all headers, opcodes and lengths.
func trimKinds(rng *rand.Rand) (all []kit.Packet) {
	for _, base := range appendKinds() {
		for _, op := range []uint8{4, 0, 0x06, 0x0b, 0x11, 0x13, 0x64, 0x65, 0x81} {
			for pad := range 4 {
				p := base
				p.Op, p.Seed, p.BthFlags = op, rng.Uint64(), uint8(rng.Uint32())&^0x30|uint8(pad)<<4
				p.Payload = kit.ExtOf[op] + pad + []int{0, 1, 5, rng.IntN(40), rng.IntN(900)}[rng.IntN(5)]
				p.Trailer = []int{0, 0, 3, 40}[rng.IntN(4)]
				p.IcrcBad = rng.IntN(8) == 0
				all = append(all, p)
			}
		}
	}
	return all
}

// playTrimmed plays packets, and calls `trimmed` to take and check each. It returns how many were written untrimmed.
func playTrimmed(r *kit.Rig, x *kit.RxRing, list []kit.Packet) (whole int) {
	r.T.Helper()
	for len(list) > 0 {
		n, first := min(len(list), 24), r.Ordinal()
		longest := nicspec.FrameMin
		var frames [][]byte
		for i := range list[:n] {
			f := list[i].Build()
			if len(f) < nicspec.FrameMin {
				f = append(f, make([]byte, nicspec.FrameMin-len(f))...) // Ethernet padding
			}
			frames, longest = append(frames, f), max(longest, len(f))
		}
		postMarked(r, x, n, longest)
		r.Play(frames...)
		for i := range n {
			if trimmed(r, x, first+i) {
				whole++
			}
		}
		list = list[n:]
	}
	return whole
}

// trimmedLayouts delivers RoCE packets of every pad count to queues with all modes of header split (receive.Splits).
func trimmedLayouts(r *kit.Rig) {
	trims(r)
	r.ReceiveAll(0)
	rng := rand.New(rand.NewPCG(121, 9))
	for q, s := range append(receive.Splits[:len(receive.Splits):len(receive.Splits)],
		receive.Layout{Mode: nicspec.SplitModeHeaders, Len: 1}) {
		x := r.OpenRx(q, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen, f.HdrBufSize = s.Mode, uint16(s.Len), 512
			if s.Len == 1 {
				f.HdrBufSize = 60
			}
		})
		r.ToQueue(q)
		r.Synced()
		kinds := trimKinds(rng)
		if q%3 > 0 {
			kinds = kinds[q*40%200:][:60]
		}
		require.Zero(r.T, playTrimmed(r, x, kinds), "frames that were not trimmed")
		r.Quiet()
		r.Disable(nicspec.TableRxq, q)
	}
}

// notTrimmed delivers packets that the device must not trim: fragments, wrong lengths, pad counts larger than the bytes
// behind the headers, and packets that are not RoCE.
func notTrimmed(r *kit.Rig) {
	trims(r)
	r.ReceiveAll(2)
	x := r.OpenRx(2, 5, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	var all []kit.Packet
	add := func(base kit.Packet, mod func(*kit.Packet)) { mod(&base); all = append(all, base) }
	for _, l3 := range []int{4, 6} {
		p := kit.RocePacket(40)
		p.L3 = l3
		add(p, func(p *kit.Packet) { p.Dport = 4792 })
		add(p, func(p *kit.Packet) { p.UDPLen = 1 })
		add(p, func(p *kit.Packet) { p.UDPLen = -41 }) // UDP length 23, less than the headers and ICRC
		add(p, func(p *kit.Packet) { p.UDPLen = -60 })
		add(p, func(p *kit.Packet) { p.UDPLen = 0x7000 })
		for pad := 1; pad < 4; pad++ { // the pad count is larger than the payload
			add(p, func(p *kit.Packet) { p.Payload, p.BthFlags, p.Trailer = pad-1, uint8(pad)<<4, 20 })
			// the pad count is larger than the payload behind extension headers
			add(p, func(p *kit.Packet) { p.Op, p.Payload, p.BthFlags = 0x13, 28+pad-1, uint8(pad)<<4 })
		}
		// The UDP length ends inside extension headers.
		add(p, func(p *kit.Packet) { p.Op, p.Payload, p.UDPLen = 0x14, 40, -13 })
		u := kit.UDPPacket(50)
		u.L3 = l3
		add(u, func(*kit.Packet) {})
		add(kit.Packet{L3: l3, Proto: kit.ProtoTCP, Payload: 70}, func(*kit.Packet) {})
		if l3 == 4 {
			add(p, func(p *kit.Packet) { p.Frag = 0x2000 })
			add(p, func(p *kit.Packet) { p.Frag = 7 })
		}
	}
	require.Equal(r.T, len(all), playTrimmed(r, x, all), "frames that were placed whole")
	all = nil
	for pad := range 4 { // the payload is exactly as long as the pad count says
		p := kit.RocePacket(pad)
		p.BthFlags, p.Trailer = uint8(pad)<<4, 30
		all = append(all, p)
		p.Op, p.Payload = 0x13, 28+pad
		all = append(all, p)
		p.Op, p.Payload, p.Frag = 4, 40, 0x4000 // flag "do not fragment"
		all = append(all, p)
	}
	p := kit.RocePacket(40)
	p.UDPLen = -40 // UDP length 24, with more of the frame behind it
	all = append(all, p)
	require.Zero(r.T, playTrimmed(r, x, all), "frames that were not trimmed")
}

// trimmedTooLong delivers frames whose bytes, trimmed, just fit into the payload buffer, or just do not fit.
func trimmedTooLong(r *kit.Rig) {
	trims(r)
	r.ReceiveAll(0)
	for i, s := range []receive.Layout{{Mode: nicspec.SplitModeNone, Len: 0}, {Mode: nicspec.SplitModeFixed, Len: 50},
		{Mode: nicspec.SplitModeHeaders, Len: 0}} {
		for pad := range 4 {
			const payload = 300
			p := kit.RocePacket(payload + pad)
			p.BthFlags, p.Trailer = uint8(pad)<<4, 9
			head := []int{0, 50, 54}[i]
			fits := 54 + payload - head
			for _, size := range []int{fits, fits - 1} {
				x := r.OpenRx(3, 3, func(f *nicspec.RxqEntryFields) {
					f.SplitMode, f.SplitLen, f.PayBufSize = s.Mode, uint16(s.Len), uint16(size)
				})
				r.ToQueue(3)
				r.Synced()
				f := p.Build()
				q := p
				q.Payload, q.Seed = payload+pad-7, 5 // a shorter frame, which fits into the buffers anyway
				g := q.Build()
				want := kit.Arrived(f, g).Taken(1)
				if size == fits {
					want = kit.Arrived(f, g).Taken(2)
				} else {
					want = want.With(kit.PortCounter(nicspec.CntRxDropTooLong), 1)
				}
				first := r.Ordinal()
				r.Counted(fmt.Sprintf("%d B into %d", fits, size), want, func() {
					postMarked(r, x, 2, len(f))
					r.Play(f, g)
					if size == fits {
						require.False(r.T, trimmed(r, x, first))
					}
					require.False(r.T, trimmed(r, x, first+1))
				})
				r.Disable(nicspec.TableRxq, 3)
			}
		}
	}
}

// trimmedQueues uses queues that trim beside queues that do not, and then swaps the two.
func trimmedQueues(r *kit.Rig) {
	r.ByDest(1, 2)
	r.ReceiveAll(1)
	rng := rand.New(rand.NewPCG(122, 9))
	for lap := range 4 {
		var x [3]*kit.RxRing
		for q := 1; q <= 2; q++ {
			x[q] = r.OpenRx(q, 6, func(f *nicspec.RxqEntryFields) {
				f.SplitMode, f.HdrBufSize, f.Trim = nicspec.SplitModeHeaders, 256, uint8((q+lap)%2)
			})
			r.Post(x[q], 40)
		}
		first := r.Ordinal()
		var order []int
		for _, p := range trimKinds(rng)[:40] {
			q := 1 + rng.IntN(2)
			p.Dmac[5] = uint8(q)
			p.Payload += 12
			order = append(order, q)
			r.Play(p.Build())
		}
		for i, q := range order {
			r.Delivered(x[q], first+i, uint16(q-1))
		}
		r.Quiet()
		r.Disable(nicspec.TableRxq, 1)
		r.Disable(nicspec.TableRxq, 2)
	}
}

// trimmedPages ends the placed bytes around the end of a page, of a write and of a line.
func trimmedPages(r *kit.Rig) {
	trims(r)
	x := r.OpenRx(3, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	r.ReceiveAll(3)
	first, n := r.Ordinal(), 0
	for end := -4; end <= 4; end++ {
		for _, payload := range []int{60, 124, 1020, 4090} {
			pad := n % 4
			p := kit.RocePacket(payload + pad)
			p.BthFlags, p.Seed = uint8(pad)<<4, uint64(n)
			at := r.Alloc(n%2, 3*4096, 4096) + 8192 - uint64(payload+end)
			r.Put(x, r.Alloc((n+1)%2, 256, 64), at)
			r.Play(p.Build())
			n++
		}
	}
	r.Write(nicspec.RegRxDoorbell(3), uint32(x.PI))
	for i := range n {
		r.Delivered(x, first+i, nicspec.RuleNone)
	}
	r.Nothing(&x.Ring)
}

// trimmedDigests delivers payload digests that cover the pad bytes [X3], in frames that are placed
// without them.
func trimmedDigests(r *kit.Rig) {
	trims(r)
	rng := rand.New(rand.NewPCG(123, 9))
	r.ReceiveAll(0)
	for mode := range nicspec.CrcMode(3) {
		x := r.OpenRx(4, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.HdrBufSize, f.CrcMode = nicspec.SplitModeHeaders, 256, mode
		})
		r.ToQueue(4)
		r.Synced()
		kinds := trimKinds(rng)[:100]
		for i := range kinds {
			kinds[i].Digest = []kit.CsumKind{kit.CsumZero, kit.CsumRight, kit.CsumWrong}[i%3]
			kinds[i].Payload += 8
		}
		playTrimmed(r, x, kinds)
		r.Quiet()
		r.Disable(nicspec.TableRxq, 4)
	}
}

// trimmedMarks delivers trimmed frames to queues that also mark ECN.
func trimmedMarks(r *kit.Rig) {
	trims(r)
	rng := rand.New(rand.NewPCG(124, 9))
	x := r.OpenRx(4, 5, func(f *nicspec.RxqEntryFields) {
		f.SplitMode, f.HdrBufSize, f.EcnMode = nicspec.SplitModeHeaders, 256, 1
	})
	r.ReceiveAll(4)
	kinds := trimKinds(rng)[:120]
	for i := range kinds {
		kinds[i].Tos = uint8(rng.Uint32())
	}
	playTrimmed(r, x, kinds)
}
