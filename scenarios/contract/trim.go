package contract

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var trimChecks = []check{
	{"trim/pad counts, headers and splits", "R8 R10 R14", stalled, trimmedLayouts},
	{"trim/what is not trimmed", "R14", stalled, notTrimmed},
	{"trim/frames by hand", "R14 R8", calm, func(r *rig) { r.trims(); parseByHand(r) }},
	{"trim/RoCE opcodes", "R14 H7", calm, func(r *rig) { r.trims(); roceOpcodes(r) }},
	{"trim/cut short", "R14", calm, func(r *rig) { r.trims(); cutShort(r) }},
	{"trim/damaged at random", "R14", calm, func(r *rig) { r.trims(); damaged(r) }},
	{"trim/payload buffers", "R8 R14", stalled, trimmedTooLong},
	{"trim/queues with and without", "R14 Q6 R12", stalled, trimmedQueues},
	{"trim/pages", "R10 R14 P3", calm, trimmedPages},
}

var trimCrcChecks = []check{{"trim/with a CRC-32C", "R14 X3 X4", calm, trimmedDigests}}

var trimEcnChecks = []check{{"trim/with ECN", "R14 E1", calm, trimmedMarks}}

// trims has all receive queues trim.
func (r *rig) trims() {
	old := r.rxMod
	r.rxMod = func(f *nicspec.RxqEntryFields) {
		f.Trim = 1
		if old != nil {
			old(f)
		}
	}
}

const unwritten = 0xa5 // bytes of buffers before a frame comes in

// postMarked posts descriptors for frames of a length, in buffers that show what was written.
func (r *rig) postMarked(x *rxRing, n, length int) {
	r.t.Helper()
	mark := make([]byte, length+64)
	for i := range mark {
		mark[i] = unwritten
	}
	for i := range n {
		h, p := r.buffers((i*7+n)%64, (i*5+n)%64)
		r.put(x, h, p)
		r.store(h, mark)
		r.store(p, mark)
	}
	r.write(nicspec.RegRxDoorbell(x.Number), uint32(x.PI))
}

// trimmed takes the next frame of a queue and demands that nothing was written beyond what is placed; it tells whether the
// frame was placed whole.
func (r *rig) trimmed(x *rxRing, ordinal int) (whole bool) {
	r.t.Helper()
	index := x.CQI
	e := r.delivered(x, ordinal, nicspec.RuleNone)
	n, h, p := int(e.FrameLen()), int(e.HdrLen()), int(e.PayLen())
	for k, used := range []int{h, p} {
		rest := r.load(x.posted[index][k]+uint64(used), n+64-used)
		for i, b := range rest {
			require.EqualValues(r.t, unwritten, b, "byte %d behind the %d of buffer %d that a frame of %d B takes", i, used, k, n)
		}
	}
	return h+p == n
}

// trimKinds are RoCE packets of all headers, opcodes and lengths.
func trimKinds(rng *rand.Rand) (all []pkt) {
	for _, base := range appendKinds() {
		for _, op := range []uint8{4, 0, 0x06, 0x0b, 0x11, 0x13, 0x64, 0x65, 0x81} {
			for pad := range 4 {
				p := base
				p.op, p.seed, p.bthFlags = op, rng.Uint64(), uint8(rng.Uint32())&^0x30|uint8(pad)<<4
				p.payload = extOf[op] + pad + []int{0, 1, 5, rng.IntN(40), rng.IntN(900)}[rng.IntN(5)]
				p.trailer = []int{0, 0, 3, 40}[rng.IntN(4)]
				p.icrcBad = rng.IntN(8) == 0
				all = append(all, p)
			}
		}
	}
	return all
}

// playTrimmed plays packets and takes them; it returns how many were placed whole.
func (r *rig) playTrimmed(x *rxRing, list []pkt) (whole int) {
	r.t.Helper()
	for len(list) > 0 {
		n, first := min(len(list), 24), r.ordinal()
		longest := nicspec.FrameMin
		var frames [][]byte
		for i := range list[:n] {
			f := list[i].build()
			if len(f) < nicspec.FrameMin {
				f = append(f, make([]byte, nicspec.FrameMin-len(f))...) // Ethernet padding
			}
			frames, longest = append(frames, f), max(longest, len(f))
		}
		r.postMarked(x, n, longest)
		r.play(frames...)
		for i := range n {
			if r.trimmed(x, first+i) {
				whole++
			}
		}
		list = list[n:]
	}
	return whole
}

// trimmedLayouts has RoCE packets of every pad count with all splits.
func trimmedLayouts(r *rig) {
	r.trims()
	r.receiveAll(0)
	rng := rand.New(rand.NewPCG(121, 9))
	for q, s := range append(splits[:len(splits):len(splits)], layout{nicspec.SplitModeHeaders, 1}) {
		x := r.openRx(q, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen, f.HdrBufSize = s.mode, uint16(s.len), 512
			if s.len == 1 {
				f.HdrBufSize = 60
			}
		})
		r.toQueue(q)
		r.synced()
		kinds := trimKinds(rng)
		if q%3 > 0 {
			kinds = kinds[q*40%200:][:60]
		}
		require.Zero(r.t, r.playTrimmed(x, kinds), "frames that were not trimmed")
		r.quiet()
		r.disable(nicspec.TableRxq, q)
	}
}

// notTrimmed has packets of which nothing is cut off: fragments, lengths that lie, pad counts that leave less than the headers,
// and what is no RoCE.
func notTrimmed(r *rig) {
	r.trims()
	r.receiveAll(2)
	x := r.openRx(2, 5, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	var all []pkt
	add := func(base pkt, mod func(*pkt)) { mod(&base); all = append(all, base) }
	for _, l3 := range []int{4, 6} {
		p := rocePacket(40)
		p.l3 = l3
		add(p, func(p *pkt) { p.dport = 4792 })
		add(p, func(p *pkt) { p.udpLen = 1 })
		add(p, func(p *pkt) { p.udpLen = -41 }) // 23 B
		add(p, func(p *pkt) { p.udpLen = -60 })
		add(p, func(p *pkt) { p.udpLen = 0x7000 })
		for pad := 1; pad < 4; pad++ { // the payload has fewer bytes than that
			add(p, func(p *pkt) { p.payload, p.bthFlags, p.trailer = pad-1, uint8(pad)<<4, 20 })
			add(p, func(p *pkt) { p.op, p.payload, p.bthFlags = 0x13, 28+pad-1, uint8(pad)<<4 }) // beside extended headers
		}
		add(p, func(p *pkt) { p.op, p.payload, p.udpLen = 0x14, 40, -13 }) // the UDP length ends inside extended headers
		u := udpPacket(50)
		u.l3 = l3
		add(u, func(*pkt) {})
		add(pkt{l3: l3, proto: protoTCP, payload: 70}, func(*pkt) {})
		if l3 == 4 {
			add(p, func(p *pkt) { p.frag = 0x2000 })
			add(p, func(p *pkt) { p.frag = 7 })
		}
	}
	require.Equal(r.t, len(all), r.playTrimmed(x, all), "frames that were placed whole")
	all = nil
	for pad := range 4 { // just enough
		p := rocePacket(pad)
		p.bthFlags, p.trailer = uint8(pad)<<4, 30
		all = append(all, p)
		p.op, p.payload = 0x13, 28+pad
		all = append(all, p)
		p.op, p.payload, p.frag = 4, 40, 0x4000 // do not fragment
		all = append(all, p)
	}
	p := rocePacket(40)
	p.udpLen = -40 // 24 B, and more of the frame behind them
	all = append(all, p)
	require.Zero(r.t, r.playTrimmed(x, all), "frames that were not trimmed")
}

// trimmedTooLong has payload buffers that what is placed just fits into, or does not.
func trimmedTooLong(r *rig) {
	r.trims()
	r.receiveAll(0)
	for i, s := range []layout{{nicspec.SplitModeNone, 0}, {nicspec.SplitModeFixed, 50}, {nicspec.SplitModeHeaders, 0}} {
		for pad := range 4 {
			const payload = 300
			p := rocePacket(payload + pad)
			p.bthFlags, p.trailer = uint8(pad)<<4, 9
			head := []int{0, 50, 54}[i]
			fits := 54 + payload - head
			for _, size := range []int{fits, fits - 1} {
				x := r.openRx(3, 3, func(f *nicspec.RxqEntryFields) {
					f.SplitMode, f.SplitLen, f.PayBufSize = s.mode, uint16(s.len), uint16(size)
				})
				r.toQueue(3)
				r.synced()
				f := p.build()
				q := p
				q.payload, q.seed = payload+pad-7, 5 // shorter: it is delivered in any case
				g := q.build()
				want := arrived(f, g).taken(1)
				if size == fits {
					want = arrived(f, g).taken(2)
				} else {
					want = want.with(port(nicspec.CntRxDropTooLong), 1)
				}
				first := r.ordinal()
				r.counted(fmt.Sprintf("%d B into %d", fits, size), want, func() {
					r.postMarked(x, 2, len(f))
					r.play(f, g)
					if size == fits {
						require.False(r.t, r.trimmed(x, first))
					}
					require.False(r.t, r.trimmed(x, first+1))
				})
				r.disable(nicspec.TableRxq, 3)
			}
		}
	}
}

// trimmedQueues has queues that trim beside queues that do not, and has them change over.
func trimmedQueues(r *rig) {
	r.byDest(1, 2)
	r.receiveAll(1)
	rng := rand.New(rand.NewPCG(122, 9))
	for lap := range 4 {
		var x [3]*rxRing
		for q := 1; q <= 2; q++ {
			x[q] = r.openRx(q, 6, func(f *nicspec.RxqEntryFields) {
				f.SplitMode, f.HdrBufSize, f.Trim = nicspec.SplitModeHeaders, 256, uint8((q+lap)%2)
			})
			r.post(x[q], 40)
		}
		first := r.ordinal()
		var order []int
		for _, p := range trimKinds(rng)[:40] {
			q := 1 + rng.IntN(2)
			p.dmac[5] = uint8(q)
			p.payload += 12
			order = append(order, q)
			r.play(p.build())
		}
		for i, q := range order {
			r.delivered(x[q], first+i, uint16(q-1))
		}
		r.quiet()
		r.disable(nicspec.TableRxq, 1)
		r.disable(nicspec.TableRxq, 2)
	}
}

// trimmedPages has what is placed end about the end of a page, a write or a line.
func trimmedPages(r *rig) {
	r.trims()
	x := r.openRx(3, 7, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.HdrBufSize = nicspec.SplitModeHeaders, 256 })
	r.receiveAll(3)
	first, n := r.ordinal(), 0
	for end := -4; end <= 4; end++ {
		for _, payload := range []int{60, 124, 1020, 4090} {
			pad := n % 4
			p := rocePacket(payload + pad)
			p.bthFlags, p.seed = uint8(pad)<<4, uint64(n)
			at := r.alloc(n%2, 3*4096, 4096) + 8192 - uint64(payload+end)
			r.put(x, r.alloc((n+1)%2, 256, 64), at)
			r.play(p.build())
			n++
		}
	}
	r.write(nicspec.RegRxDoorbell(3), uint32(x.PI))
	for i := range n {
		r.delivered(x, first+i, nicspec.RuleNone)
	}
	r.nothing(&x.ring)
}

// trimmedDigests has payload digests, whose range has the pad bytes [X3], in frames that are placed without them.
func trimmedDigests(r *rig) {
	r.trims()
	rng := rand.New(rand.NewPCG(123, 9))
	r.receiveAll(0)
	for mode := range nicspec.CrcMode(3) {
		x := r.openRx(4, 5, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.HdrBufSize, f.CrcMode = nicspec.SplitModeHeaders, 256, mode
		})
		r.toQueue(4)
		r.synced()
		kinds := trimKinds(rng)[:100]
		for i := range kinds {
			kinds[i].digest = []csumKind{csumZero, csumRight, csumWrong}[i%3]
			kinds[i].payload += 8
		}
		r.playTrimmed(x, kinds)
		r.quiet()
		r.disable(nicspec.TableRxq, 4)
	}
}

// trimmedMarks has frames whose ECN bits change on their way to memory.
func trimmedMarks(r *rig) {
	r.trims()
	rng := rand.New(rand.NewPCG(124, 9))
	x := r.openRx(4, 5, func(f *nicspec.RxqEntryFields) {
		f.SplitMode, f.HdrBufSize, f.EcnMode = nicspec.SplitModeHeaders, 256, 1
	})
	r.receiveAll(4)
	kinds := trimKinds(rng)[:120]
	for i := range kinds {
		kinds[i].tos = uint8(rng.Uint32())
	}
	r.playTrimmed(x, kinds)
}
