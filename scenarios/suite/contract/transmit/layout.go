package transmit

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TxLayoutChecks gather frames from pieces of every shape.
var TxLayoutChecks = []kit.Check{
	{Name: "transmit/inline bytes, pieces and addresses", Rules: "T4 T5 T9 T10 P1 B3 B6", Stalls: kit.Stalled,
		Run: inlineAndPieces},
	{Name: "transmit/MRRS 128 to 4096", Rules: "P2 P3 P4 T4 G8", Stalls: kit.Calm, Run: readSizes},
	{Name: "transmit/pages", Rules: "P3 T4", Stalls: kit.Stalled, Run: txPages},
	{Name: "transmit/Nop and f_complete", Rules: "T3 T10", Stalls: kit.Stalled, Run: nops},
	{Name: "transmit/padding", Rules: "T3 T5 T7", Stalls: kit.Calm, Run: padding},
}

func inlineAndPieces(r *kit.Rig) {
	x, w := r.TxSetup(3, 6)
	rng := rand.New(rand.NewPCG(2, 9))
	var all []nicspec.WqeFields
	for inline := range nicspec.InlineMax + 1 {
		for nseg := 0; (inline+15)/16+nseg <= nicspec.WqeSlots; nseg++ {
			for range 3 {
				n := kit.Lengths[rng.IntN(len(kit.Lengths))]
				if nseg == 0 {
					n = inline
				}
				if n == 0 {
					continue
				}
				e := r.Cut(w, kit.Pattern(n, rng.Uint64()), inline, nseg, rng)
				e.FPad = n < nicspec.FrameMin
				all = append(all, e)
			}
		}
	}
	for _, n := range kit.Lengths {
		for nseg := 1; nseg <= 3; nseg++ {
			e := r.Cut(w, kit.Pattern(n, uint64(n)), 0, nseg, rng)
			e.FComplete = n%2 == 0
			all = append(all, e)
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

func readSizes(r *kit.Rig) {
	x, w := r.TxSetup(9, 5)
	rng := rand.New(rand.NewPCG(3, 9))
	r.Keep = true
	for mrrs := range uint32(8) {
		r.Quiet()
		d := nicspec.DevctlReg(nicspec.ResetDevctl)
		d.SetMrrs(mrrs)
		d.SetRcb(mrrs%2 > 0)
		r.Write(nicspec.RegDevctl, uint32(d))
		r.Synced()
		r.Reads = nil
		most := 128
		if mrrs <= 5 {
			most <<= mrrs
		}
		var all []nicspec.WqeFields
		for _, n := range []int{60, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 2049, 4095, 4096, 4097, 8191,
			9216} {
			all = append(all, r.Cut(w, kit.Pattern(n, uint64(n)), n%48, 1, rng))
		}
		r.Transmit(x, all...)
		for i := range r.Reads {
			if n := int(r.Reads[i].Length) * 4; n > most {
				r.T.Fatalf("read of %d B with MRRS %d", n, most)
			}
		}
	}
}

// txPages uses pieces that start and end around 4 KB boundaries.
func txPages(r *kit.Rig) {
	x, w := r.TxSetup(1, 4)
	var all []nicspec.WqeFields
	for _, before := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 129, 4095} {
		for _, n := range []int{60, 61, 64, 130, 4097, 9216} {
			all = append(all, kit.SendEntry(nil, r.Piece(w[n%2], 4096-before, 4096, kit.Pattern(n, uint64(n+before)))))
		}
	}
	r.Transmit(x, all...)
}

// nops posts Nops with random values in their other fields, between entries that send.
func nops(r *kit.Rig) {
	x, w := r.TxSetup(5, 3)
	rng := rand.New(rand.NewPCG(4, 9))
	var all []nicspec.WqeFields
	for i := range 80 {
		e := nicspec.DecodeWqe(kit.Pattern(nicspec.WqeBytes, uint64(i)))
		e.Opcode, e.FComplete = nicspec.OpcodeNop, i%3 == 0
		if i%5 == 0 {
			e = r.Cut(w, kit.Pattern(100+i, uint64(i)), i%33, 1, rng)
			e.FComplete = i%2 == 0
		}
		e.WqeId = uint32(i) * 0x01010101
		all = append(all, e)
	}
	r.Counted("Nops and frames", kit.Steps{
		kit.DevCounter(nicspec.CntTxWqe): 80, kit.DevCounter(nicspec.CntTxCqe): kit.Free,
		kit.PortCounter(nicspec.CntTxFrames): 16, kit.PortCounter(nicspec.CntTxBytes): kit.Free,
	}, func() { r.Transmit(x, all...) })
}

func padding(r *kit.Rig) {
	x, w := r.TxSetup(5, 4)
	rng := rand.New(rand.NewPCG(5, 9))
	var all []nicspec.WqeFields
	for n := 1; n <= 62; n++ {
		for _, pad := range []bool{false, true} {
			e := r.Cut(w, kit.Pattern(n, uint64(n)), min(n-1, n*7%33), 1, rng)
			e.FPad = pad
			all = append(all, e)
		}
	}
	// Offloads look at the frame without its padding.
	p := kit.UDPPacket(2)
	f := p.Build()
	for _, cut := range []int{len(f), len(f) - 1, 41, 34, 33} {
		for k := range 3 {
			e := r.Cut(w, f[:cut], 0, 2, rng)
			e.L3Off, e.L4Off, e.FPad = 14, 34, true
			e.FIpCsum, e.FUdpCsum, e.FUdpZero = k == 0, k == 1, k == 2
			all = append(all, e)
		}
	}
	r.Transmit(x, all...)
}
