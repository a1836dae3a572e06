package offloads

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// OffloadChecks check transmit checksums and the ICRC.
var OffloadChecks = []kit.Check{
	{Name: "offloads/every combination", Rules: "T7 T8 H10", Stalls: kit.Stalled, Run: offloadKinds},
	{Name: "offloads/offsets", Rules: "T7", Stalls: kit.Calm, Run: offloadOffsets},
	{Name: "offloads/lengths that do not fit", Rules: "T7", Stalls: kit.Calm, Run: offloadLengths},
	{Name: "offloads/the first 128 bytes", Rules: "T7", Stalls: kit.Calm, Run: offloadReach},
	{Name: "offloads/fields that overlap", Rules: "T8", Stalls: kit.Calm, Run: offloadOverlaps},
	{Name: "offloads/sums of zero", Rules: "T8", Stalls: kit.Calm, Run: zeroSums},
}

// flags sets the offload flags of an entry by the bits of k; it never sets udp_csum and udp_zero together.
func flags(w *nicspec.WqeFields, k int) {
	w.FIpCsum, w.FIcrc = k&1 != 0, k&2 != 0
	w.FUdpCsum, w.FUdpZero = k/4%3 == 1, k/4%3 == 2
}

const flagKinds = 12

// offloadKinds sends packets of every kind with every combination of offloads, including those that do not fit the
// packet.
func offloadKinds(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(7, 9))
	var all []nicspec.WqeFields
	for i, p := range kit.EveryKind() {
		for k := i % 2; k < flagKinds; k += 1 + r.Stall/20 {
			p.Payload = rng.IntN(120)
			f := p.Build()
			e := r.Cut(w, f, min(rng.IntN(17), len(f)-3), 1+rng.IntN(2), rng)
			e.L3Off, e.L4Off, e.FPad = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), true
			flags(&e, k)
			e.FComplete = k%2 == 0
			all = append(all, e)
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// offloadOffsets sends frames with every value of l3_off.
func offloadOffsets(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(8, 9))
	var all []nicspec.WqeFields
	for _, l3 := range []int{4, 6} {
		p := kit.RocePacket(100)
		p.L3 = l3
		f := p.Build()
		for off := range 256 {
			a := r.Cut(w, f, 0, 1, rng)
			a.L3Off, a.L4Off = uint8(off), uint8(p.L3Off()+p.L3Len())
			flags(&a, off%flagKinds)
			b := r.Cut(w, f, 0, 1, rng)
			b.L3Off, b.L4Off = uint8(p.L3Off()), uint8(off)
			flags(&b, (off/2+1)%flagKinds)
			all = append(all, a, b)
		}
	}
	r.Transmit(x, all...)
}

// offloadLengths varies the IP header length, the UDP length and the length of the frame.
func offloadLengths(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(9, 9))
	var all []nicspec.WqeFields
	add := func(p kit.Packet, f []byte, k int) {
		if len(f) == 0 {
			return
		}
		e := r.Cut(w, f, 0, 1, rng)
		e.L3Off, e.L4Off, e.FPad = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), true
		flags(&e, k)
		all = append(all, e)
	}
	for _, l3 := range []int{4, 6} {
		p := kit.RocePacket(30)
		p.L3 = l3
		f := p.Build()
		l4 := p.L3Off() + p.L3Len()
		for _, u := range []int{0, 1, 7, 8, 9, 19, 20, 22, 23, 24, 25, 27, 28, 29, len(f) - l4 - 1, len(f) - l4,
			len(f) - l4 + 1, 0x4000, 0xffff} {
			for _, k := range []int{2, 4, 6, 8, 7} {
				g := append([]byte(nil), f...)
				kit.BigEndian.PutUint16(g[l4+4:], uint16(u))
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
	r.Transmit(x, all...)
}

// offloadReach sends headers that end near byte 128, the last that the device inspects.
func offloadReach(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(10, 9))
	var all []nicspec.WqeFields
	for _, l3 := range []int{4, 6} {
		for before := 20; before <= 110; before++ {
			p := kit.RocePacket(60)
			p.L3 = l3
			p.Options = []int{0, 40, 20}[before%3]
			if l3 == 6 {
				p.Options = 0
			}
			f := append(kit.Pattern(before, uint64(before)), p.Build()[14:]...)
			for _, k := range []int{1, 2, 4, 8} {
				e := r.Cut(w, f, 0, 1+k%2, rng)
				e.L3Off, e.L4Off = uint8(before), uint8(before+p.L3Len())
				flags(&e, k)
				all = append(all, e)
			}
		}
	}
	r.Transmit(x, all...)
}

// offloadOverlaps puts a UDP header inside an IP header or right behind its first byte, so that
// fields overlap.
func offloadOverlaps(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(11, 9))
	var all []nicspec.WqeFields
	for _, v := range []byte{0x45, 0x60, 0x4a} {
		for l4 := 15; l4 < 70; l4++ {
			for _, k := range []int{4, 5, 8, 9, 6, 7, 10, 11} {
				f := kit.Pattern(200, rng.Uint64())
				kit.BigEndian.PutUint16(f[l4+4:], uint16(24+rng.IntN(100)))
				f[14] = v // in some of the frames this byte is part of a length
				e := r.Cut(w, f, 0, 1, rng)
				e.L3Off, e.L4Off = 14, uint8(l4)
				flags(&e, k)
				all = append(all, e)
			}
		}
	}
	r.Transmit(x, all...)
}

// zeroSums sends packets whose checksums come out as 0: UDP sends 0xffff instead, IPv4 sends 0.
func zeroSums(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(12, 9))
	var all []nicspec.WqeFields
	for i := range 16 {
		p := kit.UDPPacket(40 + i)
		p.L3, p.Seed = 4+i%2*2, uint64(i)
		f := p.Build()
		l4 := p.L3Off() + p.L3Len()
		kit.BigEndian.PutUint16(f[l4+8:], kit.AddOnes(kit.BigEndian.Uint16(f[l4+8:]), kit.BigEndian.Uint16(f[l4+6:])))
		if p.L3 == 4 {
			kit.BigEndian.PutUint16(f[18:], kit.AddOnes(kit.BigEndian.Uint16(f[18:]), kit.BigEndian.Uint16(f[24:])))
		}
		e := r.Cut(w, f, 0, 2, rng)
		e.L3Off, e.L4Off, e.FUdpCsum, e.FIpCsum = 14, uint8(l4), true, p.L3 == 4
		all = append(all, e)
	}
	r.Transmit(x, all...)
}
