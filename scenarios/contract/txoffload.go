package contract

import (
	"math/rand/v2"

	"nictwin/models/nicspec"
)

var offloadChecks = []check{
	{"offloads/every combination", "T7 T8 H10", stalled, offloadKinds},
	{"offloads/offsets", "T7", calm, offloadOffsets},
	{"offloads/lengths that do not fit", "T7", calm, offloadLengths},
	{"offloads/the first 128 bytes", "T7", calm, offloadReach},
	{"offloads/fields that overlap", "T8", calm, offloadOverlaps},
	{"offloads/sums of zero", "T8", calm, zeroSums},
}

// flags sets the offloads of an entry; udp_csum and udp_zero never go together.
func flags(w *nicspec.WqeFields, k int) {
	w.FIpCsum, w.FIcrc = k&1 != 0, k&2 != 0
	w.FUdpCsum, w.FUdpZero = k/4%3 == 1, k/4%3 == 2
}

const flagKinds = 12

// offloadKinds has packets of every kind with every combination of offloads, whether they fit or not.
func offloadKinds(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(7, 9))
	var all []nicspec.WqeFields
	for i, p := range odd() {
		for k := i % 2; k < flagKinds; k += 1 + r.stall/20 {
			p.payload = rng.IntN(120)
			f := p.build()
			e := r.cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
			e.L3Off, e.L4Off, e.FPad = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), true
			flags(&e, k)
			e.FComplete = k%2 == 0
			all = append(all, e)
		}
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// offloadOffsets points at every byte.
func offloadOffsets(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(8, 9))
	var all []nicspec.WqeFields
	for _, l3 := range []int{4, 6} {
		p := rocePacket(100)
		p.l3 = l3
		f := p.build()
		for off := range 256 {
			a := r.cut(w, f, 0, 1, rng)
			a.L3Off, a.L4Off = uint8(off), uint8(p.l3Off()+p.l3Len())
			flags(&a, off%flagKinds)
			b := r.cut(w, f, 0, 1, rng)
			b.L3Off, b.L4Off = uint8(p.l3Off()), uint8(off)
			flags(&b, (off/2+1)%flagKinds)
			all = append(all, a, b)
		}
	}
	r.transmit(x, all...)
}

// offloadLengths varies header length, UDP length and the frame's own.
func offloadLengths(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(9, 9))
	var all []nicspec.WqeFields
	add := func(p pkt, f []byte, k int) {
		if len(f) == 0 {
			return
		}
		e := r.cut(w, f, 0, 1, rng)
		e.L3Off, e.L4Off, e.FPad = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), true
		flags(&e, k)
		all = append(all, e)
	}
	for _, l3 := range []int{4, 6} {
		p := rocePacket(30)
		p.l3 = l3
		f := p.build()
		l4 := p.l3Off() + p.l3Len()
		for _, u := range []int{0, 1, 7, 8, 9, 19, 20, 22, 23, 24, 25, 27, 28, 29, len(f) - l4 - 1, len(f) - l4, len(f) - l4 + 1, 0x4000, 0xffff} {
			for _, k := range []int{2, 4, 6, 8, 7} {
				g := append([]byte(nil), f...)
				be.PutUint16(g[l4+4:], uint16(u))
				add(p, g, k)
			}
		}
		for n := 12; n <= len(f); n++ {
			add(p, f[:n], 1+n%11)
		}
		for v := range 256 {
			g := append([]byte(nil), f...)
			g[14] = byte(v)
			add(p, g, 1+v%11)
			add(p, g, 2)
		}
	}
	r.transmit(x, all...)
}

// offloadReach has headers that end about the 128th byte.
func offloadReach(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(10, 9))
	var all []nicspec.WqeFields
	for _, l3 := range []int{4, 6} {
		for before := 20; before <= 110; before++ {
			p := rocePacket(60)
			p.l3 = l3
			p.options = []int{0, 40, 20}[before%3]
			if l3 == 6 {
				p.options = 0
			}
			f := append(pattern(before, uint64(before)), p.build()[14:]...)
			for _, k := range []int{1, 2, 4, 8} {
				e := r.cut(w, f, 0, 1+k%2, rng)
				e.L3Off, e.L4Off = uint8(before), uint8(before+p.l3Len())
				flags(&e, k)
				all = append(all, e)
			}
		}
	}
	r.transmit(x, all...)
}

// offloadOverlaps lets a UDP header lie inside an IP header or right behind its first byte, so that fields overlap.
func offloadOverlaps(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(11, 9))
	var all []nicspec.WqeFields
	for _, v := range []byte{0x45, 0x60, 0x4a} {
		for l4 := 15; l4 < 70; l4++ {
			for _, k := range []int{4, 5, 8, 9, 6, 7, 10, 11} {
				f := pattern(200, rng.Uint64())
				be.PutUint16(f[l4+4:], uint16(24+rng.IntN(100)))
				f[14] = v // may be part of the length
				e := r.cut(w, f, 0, 1, rng)
				e.L3Off, e.L4Off = 14, uint8(l4)
				flags(&e, k)
				all = append(all, e)
			}
		}
	}
	r.transmit(x, all...)
}

// zeroSums has packets whose checksums come out as 0: sent as 0xffff for UDP, as they are for IPv4.
func zeroSums(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(12, 9))
	var all []nicspec.WqeFields
	for i := range 16 {
		p := udpPacket(40 + i)
		p.l3, p.seed = 4+i%2*2, uint64(i)
		f := p.build()
		l4 := p.l3Off() + p.l3Len()
		be.PutUint16(f[l4+8:], addOnes(be.Uint16(f[l4+8:]), be.Uint16(f[l4+6:])))
		if p.l3 == 4 {
			be.PutUint16(f[18:], addOnes(be.Uint16(f[18:]), be.Uint16(f[24:])))
		}
		e := r.cut(w, f, 0, 2, rng)
		e.L3Off, e.L4Off, e.FUdpCsum, e.FIpCsum = 14, uint8(l4), true, p.l3 == 4
		all = append(all, e)
	}
	r.transmit(x, all...)
}
