package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var ecnChecks = []check{
	{"ecn/receive, every value of the bits", "E1 R10", stalled, markedIn},
	{"ecn/receive, frames by hand", "E1 H8", calm, func(r *rig) { r.rxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }; parseByHand(r) }},
	{"ecn/receive, frames damaged at random", "E1", calm, func(r *rig) { r.rxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }; damaged(r) }},
	{"ecn/receive, checksums", "E1", calm, markedSums},
	{"ecn/transmit, every value of the bits", "E2 T5", stalled, markedOut},
	{"ecn/transmit, every combination of offloads", "E2 T7 T8", calm, func(r *rig) { r.ecnOut(3); offloadKinds(r) }},
	{"ecn/transmit, offsets", "E2 T7", calm, func(r *rig) { r.ecnOut(1); offloadOffsets(r) }},
	{"ecn/transmit, lengths that do not fit", "E2 T7", calm, func(r *rig) { r.ecnOut(2); offloadLengths(r) }},
	{"ecn/transmit, the first 128 bytes", "E2 T7", calm, func(r *rig) { r.ecnOut(3); offloadReach(r) }},
	{"ecn/transmit, headers that are none", "E2", calm, unmarkedOut},
	{"ecn/transmit, the mode of the enabling", "E2 T11", stalled, markedQueues},
}

// Digests cover what was marked.
var ecnCrcChecks = []check{{"ecn/transmit, with digests", "E2 X1 X2", calm, func(r *rig) { r.ecnOut(3); digestsOut(r) }}}

func (r *rig) ecnOut(mode uint8) { r.txMod = func(f *nicspec.TxqEntryFields) { f.EcnMode = mode } }

// mark sets the ECN bits of the IP header at l3, and makes an IPv4 header's checksum follow as RFC 1624 says.
func mark(b []byte, l3 int, ecn byte) {
	if b[l3]>>4 == 6 {
		b[l3+1] = b[l3+1]&^0x30 | ecn<<4
		return
	}
	was := be.Uint16(b[l3:])
	now := was&^3 | uint16(ecn)
	if was == now {
		return
	}
	be.PutUint16(b[l3:], now)
	sum := uint32(^be.Uint16(b[l3+10:])) + uint32(^was) + uint32(now)
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	be.PutUint16(b[l3+10:], ^uint16(sum))
}

// marked is how a frame is written to memory that came to a queue with ecn_mode 1 [E1].
func marked(b []byte, f *nicspec.RxCqeFields) []byte {
	if ecn := f.IpTos & 3; f.L3Type == nicspec.L3TypeNone || ecn != 1 && ecn != 2 {
		return b
	}
	b = append([]byte(nil), b...)
	mark(b, int(f.L3Off), 3)
	return b
}

// markOut is [E2]: it changes what was gathered.
func markOut(w *nicspec.WqeFields, f []byte, mode uint8) {
	l3, n := int(w.L3Off), min(len(f), nicspec.ParseBytes)
	if mode == 0 || l3 < 14 || l3+20 > n {
		return
	}
	ether, version := be.Uint16(f[l3-2:]), f[l3]>>4
	if ether == typeIPv4 && version == 4 || ether == typeIPv6 && version == 6 && l3+40 <= n {
		mark(f, l3, mode)
	}
}

func markedIn(r *rig) {
	x := r.openRx(1, 8, func(f *nicspec.RxqEntryFields) { f.EcnMode, f.SplitMode = 1, nicspec.SplitModeHeaders })
	y := r.openRx(2, 8, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 16 })
	z := r.openRx(3, 8, func(f *nicspec.RxqEntryFields) { f.EcnMode, f.SplitMode, f.SplitLen = 1, nicspec.SplitModeFixed, 24 }) // between ToS and checksum
	for _, x := range []*rxRing{x, y, z} {
		r.post(x, 200)
	}
	r.byDest(1, 2, 3)
	r.receiveAll(1)
	for _, l3 := range []int{4, 6, 0} {
		for tags := range 3 {
			for ecn := range uint8(4) {
				p := rocePacket(60)
				p.l3, p.tos, p.udpCsum, p.ipBad = l3, 0xb4|ecn, csumRight, tags == 2 && ecn > 1
				p.options = 4 * tags
				if l3 != 4 {
					p.options = 0
				}
				for k := range tags {
					p.tags = append(p.tags, tpidC<<16|uint32(k))
				}
				for q, x := range []*rxRing{x, y, z} {
					first := r.ordinal()
					r.play(to(q+1, p.build()))
					e := r.delivered(x, first, uint16(q))
					r.post(x, 1)
					if l3 == 4 {
						require.Equal(r.t, p.tos, e.IpTos(), "the completion entry tells of the frame as it came")
					}
				}
			}
		}
	}
}

// markedSums has header checksums at the edges of ones' complement.
func markedSums(r *rig) {
	r.rxMod = func(f *nicspec.RxqEntryFields) { f.EcnMode = 1 }
	var frames [][]byte
	for ecn := range uint8(3) {
		for _, c := range []uint16{0, 1, 2, 3, 0x7fff, 0x8000, 0xfffc, 0xfffd, 0xfffe, 0xffff} {
			p := udpPacket(40)
			p.tos = 0xfc | ecn
			f := p.build()
			be.PutUint16(f[24:], c)
			frames = append(frames, f)
		}
		for id := range 200 { // right ones
			p := udpPacket(40)
			p.tos, p.seed = ecn, uint64(id*331)
			frames = append(frames, p.build())
		}
	}
	r.parse(frames)
}

// markedOut sends all values of the bits from queues of all modes.
func markedOut(r *rig) {
	_, w := r.txSetup(9, 2)
	rng := rand.New(rand.NewPCG(81, 9))
	for mode := range uint8(4) {
		r.ecnOut(mode)
		x := r.openTx(int(mode)+1, 5)
		var all []nicspec.WqeFields
		for _, l3 := range []int{4, 6, 0} {
			for ecn := range uint8(4) {
				for k := range flagKinds {
					p := rocePacket(30 + k*9)
					p.l3, p.tos, p.udpCsum = l3, 0x58|ecn, csumRight
					f := p.build()
					e := r.cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
					e.L3Off, e.L4Off, e.FPad = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), true
					flags(&e, k)
					all = append(all, e)
				}
			}
		}
		r.transmit(x, all...)
	}
	r.noFrames()
}

// unmarkedOut has entries at whose l3_off no IP header stands, or not with its type before it.
func unmarkedOut(r *rig) {
	_, w := r.txSetup(9, 2)
	r.ecnOut(3)
	x := r.openTx(1, 6)
	rng := rand.New(rand.NewPCG(82, 9))
	var all []nicspec.WqeFields
	for i, p := range odd() {
		p.tos = uint8(i)
		for _, l3 := range []int{0, 2, 12, 13, 14, 15, 18, 22, 34} {
			f := p.build()
			e := r.cut(w, f, 0, 1, rng)
			e.L3Off, e.FPad = uint8(l3), true
			all = append(all, e)
		}
	}
	for _, l3 := range []int{4, 6} { // headers that end about the 128th byte, or about the end
		for at := 60; at < 120; at++ {
			f := pattern(at+60, uint64(at))
			be.PutUint16(f[at-2:], map[int]uint16{4: typeIPv4, 6: typeIPv6}[l3])
			f[at] = byte(l3)<<4 | f[at]&15
			for _, n := range []int{len(f), at + 19, at + 20, at + 21, at + 39, at + 40} {
				e := r.cut(w, f[:n], at%17, 1, rng)
				e.L3Off = uint8(at)
				all = append(all, e)
			}
		}
	}
	r.transmit(x, all...)
}

// markedQueues changes a queue's mode by enabling it anew, with queues of other modes beside it.
func markedQueues(r *rig) {
	_, w := r.txSetup(9, 2)
	for i := range 8 {
		r.ecnOut(uint8(i % 4))
		x := r.openTx(5, 3)
		r.ecnOut(uint8(3 - i%4))
		y := r.openTx(6, 3)
		var a, b []nicspec.WqeFields
		for k := range 6 {
			p := udpPacket(50 + k)
			p.tos = uint8(k)
			e := r.cut(w, p.build(), 0, 2, rand.New(rand.NewPCG(uint64(i), uint64(k))))
			e.L3Off = uint8(p.l3Off())
			a, b = append(a, e), append(b, e)
		}
		pa, pb := r.enqueue(x, a...), r.enqueue(y, b...)
		r.tell(&x.ring)
		r.tell(&y.ring)
		r.ended(x, 0, pa)
		r.ended(y, 0, pb)
		r.disable(nicspec.TableTxq, 5)
		r.disable(nicspec.TableTxq, 6)
	}
}
