package contract

import (
	"math/rand/v2"

	"nictwin/models/nicspec"
)

var txLayoutChecks = []check{
	{"transmit/inline bytes, pieces and addresses", "T4 T5 T9 T10 P1 B3 B6", stalled, inlineAndPieces},
	{"transmit/MRRS 128 to 4096", "P2 P3 P4 T4 G8", calm, readSizes},
	{"transmit/pages", "P3 T4", stalled, txPages},
	{"transmit/Nop and f_complete", "T3 T10", stalled, nops},
	{"transmit/padding", "T3 T5 T7", calm, padding},
}

// cut spreads a frame over inline bytes and nseg pieces.
func (r *rig) cut(w []*window, frame []byte, inline, nseg int, rng *rand.Rand) nicspec.WqeFields {
	r.t.Helper()
	var pieces []nicspec.SegFields
	remainder := frame[inline:]
	for i := range nseg {
		n := len(remainder)
		if i < nseg-1 {
			n = 1 + rng.IntN(max(1, min(len(remainder)-(nseg-1-i), 200)))
			if rng.IntN(4) == 0 {
				n = 1 + rng.IntN(len(remainder)-(nseg-1-i))
			}
		}
		pieces = append(pieces, r.piece(w[rng.IntN(len(w))], rng.IntN(64), 64, remainder[:n]))
		remainder = remainder[n:]
	}
	return sendEntry(frame[:inline], pieces...)
}

// txSetup enables both directions, a transmit queue and two windows: Arm memory, and host memory behind Arm addresses.
func (r *rig) txSetup(q, log int) (*txRing, []*window) {
	r.t.Helper()
	r.write(nicspec.RegCtrl, 3)
	return r.openTx(q, log), []*window{r.window(1, nicspec.EndpointArm, 1<<20), r.window(r.sizes.NumKeys-1, nicspec.EndpointHost, 1<<20)}
}

func inlineAndPieces(r *rig) {
	x, w := r.txSetup(3, 6)
	rng := rand.New(rand.NewPCG(2, 9))
	var all []nicspec.WqeFields
	for inline := range nicspec.InlineMax + 1 {
		for nseg := 0; (inline+15)/16+nseg <= nicspec.WqeSlots; nseg++ {
			for range 3 {
				n := lengths[rng.IntN(len(lengths))]
				if nseg == 0 {
					n = inline
				}
				if n == 0 {
					continue
				}
				e := r.cut(w, pattern(n, rng.Uint64()), inline, nseg, rng)
				e.FPad = n < nicspec.FrameMin
				all = append(all, e)
			}
		}
	}
	for _, n := range lengths {
		for nseg := 1; nseg <= 3; nseg++ {
			e := r.cut(w, pattern(n, uint64(n)), 0, nseg, rng)
			e.FComplete = n%2 == 0
			all = append(all, e)
		}
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

func readSizes(r *rig) {
	x, w := r.txSetup(9, 5)
	rng := rand.New(rand.NewPCG(3, 9))
	r.keep = true
	for mrrs := range uint32(8) {
		r.quiet()
		d := nicspec.DevctlReg(nicspec.ResetDevctl)
		d.SetMrrs(mrrs)
		d.SetRcb(mrrs%2 > 0)
		r.write(nicspec.RegDevctl, uint32(d))
		r.synced()
		r.reads = nil
		most := 128
		if mrrs <= 5 {
			most <<= mrrs
		}
		var all []nicspec.WqeFields
		for _, n := range []int{60, 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025, 2049, 4095, 4096, 4097, 8191, 9216} {
			all = append(all, r.cut(w, pattern(n, uint64(n)), n%48, 1, rng))
		}
		r.transmit(x, all...)
		for i := range r.reads {
			if n := int(r.reads[i].Length) * 4; n > most {
				r.t.Fatalf("read of %d B with MRRS %d", n, most)
			}
		}
	}
}

// txPages has pieces that start and end about 4 KB boundaries.
func txPages(r *rig) {
	x, w := r.txSetup(1, 4)
	var all []nicspec.WqeFields
	for _, before := range []int{0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 129, 4095} {
		for _, n := range []int{60, 61, 64, 130, 4097, 9216} {
			all = append(all, sendEntry(nil, r.piece(w[n%2], 4096-before, 4096, pattern(n, uint64(n+before)))))
		}
	}
	r.transmit(x, all...)
}

// nops has Nops whose other fields are nonsense, between entries that send.
func nops(r *rig) {
	x, w := r.txSetup(5, 3)
	rng := rand.New(rand.NewPCG(4, 9))
	var all []nicspec.WqeFields
	for i := range 80 {
		e := nicspec.DecodeWqe(pattern(nicspec.WqeBytes, uint64(i)))
		e.Opcode, e.FComplete = nicspec.OpcodeNop, i%3 == 0
		if i%5 == 0 {
			e = r.cut(w, pattern(100+i, uint64(i)), i%33, 1, rng)
			e.FComplete = i%2 == 0
		}
		e.WqeId = uint32(i) * 0x01010101
		all = append(all, e)
	}
	r.counted("Nops and frames", steps{
		dev(nicspec.CntTxWqe): 80, dev(nicspec.CntTxCqe): free, port(nicspec.CntTxFrames): 16, port(nicspec.CntTxBytes): free,
	}, func() { r.transmit(x, all...) })
}

func padding(r *rig) {
	x, w := r.txSetup(5, 4)
	rng := rand.New(rand.NewPCG(5, 9))
	var all []nicspec.WqeFields
	for n := 1; n <= 62; n++ {
		for _, pad := range []bool{false, true} {
			e := r.cut(w, pattern(n, uint64(n)), min(n-1, n*7%33), 1, rng)
			e.FPad = pad
			all = append(all, e)
		}
	}
	// Offloads look at what there is before padding.
	p := udpPacket(2)
	f := p.build()
	for _, cut := range []int{len(f), len(f) - 1, 41, 34, 33} {
		for k := range 3 {
			e := r.cut(w, f[:cut], 0, 2, rng)
			e.L3Off, e.L4Off, e.FPad = 14, 34, true
			e.FIpCsum, e.FUdpCsum, e.FUdpZero = k == 0, k == 1, k == 2
			all = append(all, e)
		}
	}
	r.transmit(x, all...)
}
