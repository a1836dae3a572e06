package offloads

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// AppendChecks check pad bytes and ICRC appended by the device [T15].
var AppendChecks = []kit.Check{
	{Name: "append/pad counts and headers", Rules: "T5 T7 T8 T15 H10", Stalls: kit.Stalled, Run: appendedTrailers},
	{Name: "append/no reads for it", Rules: "T4 T15", Stalls: kit.Calm, Run: appendedWithoutReads},
	{Name: "append/lengths", Rules: "T3 T15", Stalls: kit.Calm, Run: appendedLengths},
	{Name: "append/headers that do not fit", Rules: "T7 T15", Stalls: kit.Calm, Run: appendedMisfits},
	{Name: "append/the first 128 bytes", Rules: "T15", Stalls: kit.Calm, Run: appendedReach},
	{Name: "append/entries at random", Rules: "T3 T5 T7 T8 T15", Stalls: kit.Stalled, Run: appendedAtRandom},
}

// AppendLongChecks append trailers in long entries.
var AppendLongChecks = []kit.Check{{Name: "append/in long entries", Rules: "T14 T15", Stalls: kit.Stalled,
	Run: appendedInLong}}

// AppendCrcChecks combine appended trailers with CRC-32C.
var AppendCrcChecks = []kit.Check{{Name: "append/with a CRC-32C", Rules: "X1 X2 T15", Stalls: kit.Stalled,
	Run: appendedDigests}}

// AppendEcnChecks combine appended trailers with ECN.
var AppendEcnChecks = []kit.Check{{Name: "append/with ECN", Rules: "E2 T15", Stalls: kit.Stalled, Run: appendedMarks}}

// bareFrame returns a RoCE packet with a pad count, but without the pad bytes and the ICRC that its
// lengths include.
func bareFrame(p kit.Packet, pad int) []byte {
	p.BthFlags = p.BthFlags&^0x30 | uint8(pad)<<4
	p.Payload += pad
	f := p.Build()
	return f[:len(f)-pad-4]
}

// appending sets the entry's flags for an appended pad and ICRC.
func appending(e *nicspec.WqeFields, p *kit.Packet) {
	e.L3Off, e.L4Off, e.FIcrc, e.FAppend = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len()), true, true
}

// appendKinds returns packets with every combination of headers to which the NIC can append a trailer.
func appendKinds() (all []kit.Packet) {
	for _, l3 := range []int{4, 6} {
		for _, tags := range [][]uint32{nil, {kit.TpidC<<16 | 5}, {kit.TpidS<<16 | 1, kit.TpidC<<16 | 2}} {
			for _, options := range []int{0, 4, 40} {
				if options > 0 && l3 == 6 {
					continue
				}
				p := kit.RocePacket(0)
				p.L3, p.Tags, p.Options, p.Tos, p.BthFlags = l3, tags, options, 0xb6, 0xcf
				all = append(all, p)
			}
		}
	}
	return all
}

// appendedTrailers sends every pad count behind payloads of all lengths modulo four, with every combination of the
// other offloads.
func appendedTrailers(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(91, 9))
	var all []nicspec.WqeFields
	for i, p := range appendKinds() {
		for pad := range 4 {
			for k := range flagKinds {
				p.Payload, p.Seed = rng.IntN(300), rng.Uint64()
				f := bareFrame(p, pad)
				e := r.Cut(w, f, rng.IntN(17)*rng.IntN(2), 1+rng.IntN(2), rng)
				flags(&e, k)
				appending(&e, &p)
				e.FPad, e.FComplete = len(f) < nicspec.FrameMin-4 || rng.IntN(4) == 0, (i+k)%3 > 0
				all = append(all, e)
			}
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// appendedWithoutReads compares the read bytes and requests of frames with an appended trailer with
// those of the same frames whose trailer is a piece.
func appendedWithoutReads(r *kit.Rig) {
	x, w := r.TxSetup(2, 4)
	r.Keep = true
	asked := func(e nicspec.WqeFields) (requests, bytes int) {
		r.Quiet()
		r.Reads = nil
		r.Transmit(x, e)
		for i := range r.Reads {
			if _, n := r.Reads[i].Span(); !x.Contains(r.Reads[i].Address) {
				requests, bytes = requests+1, bytes+n
			}
		}
		return requests, bytes
	}
	for pad := range 4 {
		p := kit.RocePacket(256 - pad)
		f := bareFrame(p, pad)
		head, body := r.Piece(w[0], 0, 64, f[:54]), r.Piece(w[1], 0, 64, f[54:])
		without := kit.SendEntry(nil, head, body)
		appending(&without, &p)
		with := kit.SendEntry(nil, head, body, r.Piece(w[0], 0, 64, make([]byte, pad+4)))
		appending(&with, &p)
		with.FAppend = false
		a, bytes := asked(without)
		require.Equal(r.T, len(f), bytes, "bytes read for a frame with %d pad bytes and ICRC appended", pad)
		b, bytes := asked(with)
		require.Equal(r.T, len(f)+pad+4, bytes)
		require.Equal(r.T, a+1, b, "read requests for the same frame with its trailer in a piece of its own")
	}
	r.Quiet()
	r.NoFrames()
}

// appendedLengths sends the shortest frames and the longest, with and without f_pad.
func appendedLengths(r *kit.Rig) {
	x, w := r.TxSetup(2, 6)
	rng := rand.New(rand.NewPCG(92, 9))
	var all []nicspec.WqeFields
	add := func(n, pad int, fill bool) {
		p := kit.RocePacket(0)
		p.Payload = n - 54
		f := bareFrame(p, pad)
		require.Len(r.T, f, n)
		e := r.Cut(w, f, 0, 1+n%2, rng)
		appending(&e, &p)
		e.FPad = fill
		all = append(all, e)
	}
	for n := 54; n <= 64; n++ {
		for pad := range 4 {
			add(n, pad, false)
			add(n, pad, true)
		}
	}
	for _, n := range []int{9200, 9205, 9207, 9208, 9209, 9210, 9211, 9212, 9213, 9216} {
		for pad := range 4 {
			add(n, pad, pad%2 == 0)
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// appendedMisfits sends entries whose UDP length, pad count, version or offsets do not fit the gathered bytes.
func appendedMisfits(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(93, 9))
	var all []nicspec.WqeFields
	add := func(p kit.Packet, f []byte, mod func(*nicspec.WqeFields)) {
		e := r.Cut(w, f, 0, 1, rng)
		appending(&e, &p)
		e.FPad = true
		if mod != nil {
			mod(&e)
		}
		all = append(all, e)
	}
	for _, l3 := range []int{4, 6} {
		p := kit.RocePacket(37)
		p.L3 = l3
		l4 := p.L3Off() + p.L3Len()
		for pad := range 4 {
			f := bareFrame(p, pad)
			add(p, f, nil)
			u := kit.BigEndian.Uint16(f[l4+4:])
			for _, by := range []int{-4, -3, -2, -1, 1, 2, 3, 4, 8, 0x100, 0x8000} {
				g := append([]byte(nil), f...)
				kit.BigEndian.PutUint16(g[l4+4:], u+uint16(by))
				add(p, g, nil)
			}
			for _, bit := range []byte{0x10, 0x20, 0x30, 0x40, 0x80, 0x01} { // the pad count, and the bits beside it
				g := append([]byte(nil), f...)
				g[l4+9] ^= bit
				add(p, g, nil)
			}
			add(p, f[:len(f)-1], nil)
			add(p, append(f[:len(f):len(f)], 0), nil)
			add(p, f, func(e *nicspec.WqeFields) { e.L3Off++ })
			add(p, f, func(e *nicspec.WqeFields) { e.L4Off-- })
			add(p, f, func(e *nicspec.WqeFields) { e.FIcrc = false })
			g := append([]byte(nil), f...)
			g[p.L3Off()] ^= 0x30
			add(p, g, nil)
		}
		for n := p.L3Off() + 1; n < l4+21; n++ { // the gathered bytes end inside the headers
			add(p, bareFrame(p, 0)[:n], nil)
		}
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

// appendedReach sends frames whose gathered bytes end with a BTH that ends near byte 128, the last that the device
// inspects.
func appendedReach(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(94, 9))
	var all []nicspec.WqeFields
	for before := 62; before <= 92; before++ {
		for _, payload := range []int{0, 1, 50} {
			p := kit.RocePacket(payload)
			p.L3 = []int{4, 6}[before%2]
			f := append(make([]byte, before-14), bareFrame(p, before%4)...)
			e := r.Cut(w, f, 0, 1, rng)
			appending(&e, &p)
			e.L3Off, e.L4Off = uint8(before), uint8(before+p.L3Len())
			e.FUdpZero = before%3 == 0
			all = append(all, e)
		}
	}
	r.Transmit(x, append(all, cutHeaders(r, w)...)...)
	r.Quiet()
	r.NoFrames()
}

// cutHeaders returns entries whose gathered bytes end inside or at the end of the headers, which
// then extend into the pad bytes to be appended; the UDP length counts all of them.
func cutHeaders(r *kit.Rig, w []*kit.Window) (all []nicspec.WqeFields) {
	r.T.Helper()
	rng := rand.New(rand.NewPCG(99, 9))
	for pad := range 4 {
		for short := -1; short <= 3; short++ {
			for _, before := range []int{14, 18, 62} {
				p := kit.RocePacket(0)
				p.L3, p.Payload = []int{4, 6}[(short+pad)&1], max(0, -short)
				f := append(make([]byte, before-14), bareFrame(p, pad)...)
				f = f[:len(f)-max(0, short)]
				l4 := before + p.L3Len()
				kit.BigEndian.PutUint16(f[l4+4:], uint16(len(f)-l4+pad+4))
				e := r.Cut(w, f, 0, 1, rng)
				appending(&e, &p)
				e.L3Off, e.L4Off, e.FPad = uint8(before), uint8(l4), true
				all = append(all, e)
			}
		}
	}
	return all
}

// randomAppend returns an entry that asks for a trailer, in most cases with headers that allow it.
func randomAppend(r *kit.Rig, w []*kit.Window, rng *rand.Rand) (nicspec.WqeFields, *kit.Packet, []byte) {
	r.T.Helper()
	kinds := appendKinds()
	p := kinds[rng.IntN(len(kinds))]
	p.Payload, p.Seed = rng.IntN(700), rng.Uint64()
	f := bareFrame(p, rng.IntN(4))
	if rng.IntN(8) == 0 {
		f[rng.IntN(min(len(f), 80))] ^= 1 << rng.IntN(8)
	}
	e := r.Cut(w, f, rng.IntN(17)*rng.IntN(2), 1+rng.IntN(2), rng)
	flags(&e, rng.IntN(flagKinds))
	appending(&e, &p)
	e.FPad, e.FComplete = rng.IntN(2) > 0, rng.IntN(3) > 0
	switch rng.IntN(16) {
	case 0:
		e.L3Off = uint8(rng.Uint32())
	case 1:
		e.L4Off = uint8(rng.Uint32())
	case 2:
		e.FIcrc = false
	}
	return e, &p, f
}

func appendedAtRandom(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	rings := []*kit.TxRing{x, r.OpenTx(9%r.Sizes.NumTxq, 4), r.OpenTx(r.Sizes.NumTxq-1, 3)}
	rng := rand.New(rand.NewPCG(95, 9))
	for range 16 {
		var firsts []uint16
		var posts [][]kit.Posted
		for _, x := range rings {
			var all []nicspec.WqeFields
			for range 1 + rng.IntN(x.Size()) {
				e, _, _ := randomAppend(r, w, rng)
				if rng.IntN(4) == 0 {
					e = r.Sound(w[0], rng.Uint64())
				}
				all = append(all, e)
			}
			all[len(all)-1].FComplete = true
			firsts = append(firsts, x.PI)
			posts = append(posts, r.Enqueue(x, all...))
			r.RingDoorbell(&x.Ring)
		}
		for i, x := range rings {
			r.Ended(x, firsts[i], posts[i])
		}
	}
	r.Quiet()
	r.NoFrames()
}

// appendedInLong sends entries with all headers inline, up to 176 B of them, and entries that are
// inline as a whole.
func appendedInLong(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	rng := rand.New(rand.NewPCG(96, 9))
	var all []kit.LongEntry
	for i, p := range append(appendKinds(), appendKinds()...) {
		for pad := range 4 {
			p.Payload = rng.IntN(60)
			if i%2 > 0 {
				p.Payload = rng.IntN(1500)
			}
			f := bareFrame(p, pad)
			inline := min(len(f)-5, 54+rng.IntN(123))
			nseg := 1 + rng.IntN(4)
			if len(f) <= nicspec.InlineMaxLong && i%3 > 0 {
				inline, nseg = len(f), 0
			}
			e := transmit.CutLong(r, w, f, inline, nseg, nicspec.WqeBlocksMax, rng)
			e.FPad = len(f) < nicspec.FrameMin-4
			flags(&e.WqeFields, rng.IntN(flagKinds))
			appending(&e.WqeFields, &p)
			all = append(all, e)
		}
	}
	r.TransmitLong(x, all...)
	r.Quiet()
	r.NoFrames()
}

// appendedDigests places CRC-32C digests of the payload before the trailer, inside it, around its end, and in the
// headers.
func appendedDigests(r *kit.Rig) {
	x, w := r.TxSetup(1, 6)
	rng := rand.New(rand.NewPCG(97, 9))
	var all []nicspec.WqeFields
	for i := range 160 {
		e, p, f := randomAppend(r, w, rng)
		l4 := p.L3Off() + p.L3Len()
		e.FCrc32c, e.CrcStart = true, uint16(l4+20+rng.IntN(8))
		switch i % 4 {
		case 0:
			e.CrcOff = uint16(len(f) - 8 + rng.IntN(16)) // the digest lies around the end of the pad bytes
		case 1:
			e.CrcOff = uint16(l4 + 20 + rng.IntN(max(1, len(f)-l4-20)))
		case 2:
			e.CrcStart, e.CrcOff = uint16(l4+24+rng.IntN(8)), uint16(l4+14+rng.IntN(12))
		case 3:
			e.CrcStart, e.CrcOff = uint16(len(f)-2+rng.IntN(9)), uint16(l4+20) // the range begins around the trailer
		}
		all = append(all, e)
	}
	r.Transmit(x, all...)
	r.Quiet()
	r.NoFrames()
}

func appendedMarks(r *kit.Rig) {
	for mode := range uint8(4) {
		ecnOut(r, mode)
		x, w := r.TxSetup(4+int(mode)%r.Sizes.NumTxq, 5)
		rng := rand.New(rand.NewPCG(98, uint64(mode)))
		var all []nicspec.WqeFields
		for range 40 {
			e, _, _ := randomAppend(r, w, rng)
			all = append(all, e)
		}
		p := kit.RocePacket(0) // shorter than FrameMin: 54 B are gathered, L is 58 with the appended ICRC
		p.Tos = 1
		e := r.Cut(w, bareFrame(p, 0), 0, 1, rng)
		appending(&e, &p)
		e.FPad = true
		r.Transmit(x, append(all, e)...)
		r.Disable(nicspec.TableTxq, x.Number)
	}
	r.Quiet()
	r.NoFrames()
}
