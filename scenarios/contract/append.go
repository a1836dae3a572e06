package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var appendChecks = []check{
	{"append/pad counts and headers", "T5 T7 T8 T15 H10", stalled, appendedTrailers},
	{"append/no reads for it", "T4 T15", calm, appendedWithoutReads},
	{"append/lengths", "T3 T15", calm, appendedLengths},
	{"append/headers that do not fit", "T7 T15", calm, appendedMisfits},
	{"append/the first 128 bytes", "T15", calm, appendedReach},
	{"append/entries at random", "T3 T5 T7 T8 T15", stalled, appendedAtRandom},
}

var appendLongChecks = []check{{"append/in long entries", "T14 T15", stalled, appendedInLong}}

var appendCrcChecks = []check{{"append/with a CRC-32C", "X1 X2 T15", stalled, appendedDigests}}

var appendEcnChecks = []check{{"append/with ECN", "E2 T15", stalled, appendedMarks}}

// bareFrame is a RoCE packet with a pad count, without the pad bytes and the ICRC that its lengths count.
func bareFrame(p pkt, pad int) []byte {
	p.bthFlags = p.bthFlags&^0x30 | uint8(pad)<<4
	p.payload += pad
	f := p.build()
	return f[:len(f)-pad-4]
}

// appending asks that pad and ICRC of a packet be appended.
func appending(e *nicspec.WqeFields, p *pkt) {
	e.L3Off, e.L4Off, e.FIcrc, e.FAppend = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len()), true, true
}

// appendKinds are packets of all headers that a trailer can be appended to.
func appendKinds() (all []pkt) {
	for _, l3 := range []int{4, 6} {
		for _, tags := range [][]uint32{nil, {tpidC<<16 | 5}, {tpidS<<16 | 1, tpidC<<16 | 2}} {
			for _, options := range []int{0, 4, 40} {
				if options > 0 && l3 == 6 {
					continue
				}
				p := rocePacket(0)
				p.l3, p.tags, p.options, p.tos, p.bthFlags = l3, tags, options, 0xb6, 0xcf
				all = append(all, p)
			}
		}
	}
	return all
}

// appendedTrailers has every pad count behind payloads of all remainders, with every combination of the other offloads.
func appendedTrailers(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(91, 9))
	var all []nicspec.WqeFields
	for i, p := range appendKinds() {
		for pad := range 4 {
			for k := range flagKinds {
				p.payload, p.seed = rng.IntN(300), rng.Uint64()
				f := bareFrame(p, pad)
				e := r.cut(w, f, rng.IntN(17)*rng.IntN(2), 1+rng.IntN(2), rng)
				flags(&e, k)
				appending(&e, &p)
				e.FPad, e.FComplete = len(f) < nicspec.FrameMin-4 || rng.IntN(4) == 0, (i+k)%3 > 0
				all = append(all, e)
			}
		}
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// appendedWithoutReads counts the bytes and the requests that frames with an appended trailer take, and those of the same
// frames whose trailer is a piece.
func appendedWithoutReads(r *rig) {
	x, w := r.txSetup(2, 4)
	r.keep = true
	asked := func(e nicspec.WqeFields) (requests, bytes int) {
		r.quiet()
		r.reads = nil
		r.transmit(x, e)
		for i := range r.reads {
			if _, n := r.reads[i].Span(); !x.Contains(r.reads[i].Address) {
				requests, bytes = requests+1, bytes+n
			}
		}
		return requests, bytes
	}
	for pad := range 4 {
		p := rocePacket(256 - pad)
		f := bareFrame(p, pad)
		head, body := r.piece(w[0], 0, 64, f[:54]), r.piece(w[1], 0, 64, f[54:])
		without := sendEntry(nil, head, body)
		appending(&without, &p)
		with := sendEntry(nil, head, body, r.piece(w[0], 0, 64, make([]byte, pad+4)))
		appending(&with, &p)
		with.FAppend = false
		a, bytes := asked(without)
		require.Equal(r.t, len(f), bytes, "bytes read for a frame with %d pad bytes and ICRC appended", pad)
		b, bytes := asked(with)
		require.Equal(r.t, len(f)+pad+4, bytes)
		require.Equal(r.t, a+1, b, "read requests for the same frame with its trailer in a piece of its own")
	}
	r.quiet()
	r.noFrames()
}

// appendedLengths has the shortest frames and the longest, with and without f_pad.
func appendedLengths(r *rig) {
	x, w := r.txSetup(2, 6)
	rng := rand.New(rand.NewPCG(92, 9))
	var all []nicspec.WqeFields
	add := func(n, pad int, fill bool) {
		p := rocePacket(0)
		p.payload = n - 54
		f := bareFrame(p, pad)
		require.Len(r.t, f, n)
		e := r.cut(w, f, 0, 1+n%2, rng)
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
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// appendedMisfits has UDP lengths, pad counts, versions and offsets that do not agree with the bytes gathered.
func appendedMisfits(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(93, 9))
	var all []nicspec.WqeFields
	add := func(p pkt, f []byte, mod func(*nicspec.WqeFields)) {
		e := r.cut(w, f, 0, 1, rng)
		appending(&e, &p)
		e.FPad = true
		if mod != nil {
			mod(&e)
		}
		all = append(all, e)
	}
	for _, l3 := range []int{4, 6} {
		p := rocePacket(37)
		p.l3 = l3
		l4 := p.l3Off() + p.l3Len()
		for pad := range 4 {
			f := bareFrame(p, pad)
			add(p, f, nil)
			u := be.Uint16(f[l4+4:])
			for _, by := range []int{-4, -3, -2, -1, 1, 2, 3, 4, 8, 0x100, 0x8000} {
				g := append([]byte(nil), f...)
				be.PutUint16(g[l4+4:], u+uint16(by))
				add(p, g, nil)
			}
			for _, bit := range []byte{0x10, 0x20, 0x30, 0x40, 0x80, 0x01} { // the pad count, and what stands beside it
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
			g[p.l3Off()] ^= 0x30
			add(p, g, nil)
		}
		for n := p.l3Off() + 1; n < l4+21; n++ { // the bytes gathered end inside the headers
			add(p, bareFrame(p, 0)[:n], nil)
		}
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

// appendedReach has a BTH that ends about the 128th byte, and bytes gathered that end with it.
func appendedReach(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(94, 9))
	var all []nicspec.WqeFields
	for before := 62; before <= 92; before++ {
		for _, payload := range []int{0, 1, 50} {
			p := rocePacket(payload)
			p.l3 = []int{4, 6}[before%2]
			f := append(make([]byte, before-14), bareFrame(p, before%4)...)
			e := r.cut(w, f, 0, 1, rng)
			appending(&e, &p)
			e.L3Off, e.L4Off = uint8(before), uint8(before+p.l3Len())
			e.FUdpZero = before%3 == 0
			all = append(all, e)
		}
	}
	r.transmit(x, append(all, r.cutHeaders(w)...)...)
	r.quiet()
	r.noFrames()
}

// cutHeaders are entries whose gathered bytes end inside or at the end of the headers, which reach into the pad bytes to be
// appended; the UDP length is that of all of them.
func (r *rig) cutHeaders(w []*window) (all []nicspec.WqeFields) {
	r.t.Helper()
	rng := rand.New(rand.NewPCG(99, 9))
	for pad := range 4 {
		for short := -1; short <= 3; short++ {
			for _, before := range []int{14, 18, 62} {
				p := rocePacket(0)
				p.l3, p.payload = []int{4, 6}[(short+pad)&1], max(0, -short)
				f := append(make([]byte, before-14), bareFrame(p, pad)...)
				f = f[:len(f)-max(0, short)]
				l4 := before + p.l3Len()
				be.PutUint16(f[l4+4:], uint16(len(f)-l4+pad+4))
				e := r.cut(w, f, 0, 1, rng)
				appending(&e, &p)
				e.L3Off, e.L4Off, e.FPad = uint8(before), uint8(l4), true
				all = append(all, e)
			}
		}
	}
	return all
}

// randomAppend is an entry that asks for a trailer, most with headers that allow it.
func (r *rig) randomAppend(w []*window, rng *rand.Rand) (nicspec.WqeFields, *pkt, []byte) {
	r.t.Helper()
	kinds := appendKinds()
	p := kinds[rng.IntN(len(kinds))]
	p.payload, p.seed = rng.IntN(700), rng.Uint64()
	f := bareFrame(p, rng.IntN(4))
	if rng.IntN(8) == 0 {
		f[rng.IntN(min(len(f), 80))] ^= 1 << rng.IntN(8)
	}
	e := r.cut(w, f, rng.IntN(17)*rng.IntN(2), 1+rng.IntN(2), rng)
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

func appendedAtRandom(r *rig) {
	x, w := r.txSetup(2, 5)
	rings := []*txRing{x, r.openTx(9%r.sizes.NumTxq, 4), r.openTx(r.sizes.NumTxq-1, 3)}
	rng := rand.New(rand.NewPCG(95, 9))
	for range 16 {
		var firsts []uint16
		var posts [][]posted
		for _, x := range rings {
			var all []nicspec.WqeFields
			for range 1 + rng.IntN(x.Size()) {
				e, _, _ := r.randomAppend(w, rng)
				if rng.IntN(4) == 0 {
					e = r.sound(w[0], rng.Uint64())
				}
				all = append(all, e)
			}
			all[len(all)-1].FComplete = true
			firsts = append(firsts, x.PI)
			posts = append(posts, r.enqueue(x, all...))
			r.tell(&x.ring)
		}
		for i, x := range rings {
			r.ended(x, firsts[i], posts[i])
		}
	}
	r.quiet()
	r.noFrames()
}

// appendedInLong has all headers inline, up to 176 B of them, and frames that are inline as a whole.
func appendedInLong(r *rig) {
	x, w := r.txSetup(2, 5)
	rng := rand.New(rand.NewPCG(96, 9))
	var all []longEntry
	for i, p := range append(appendKinds(), appendKinds()...) {
		for pad := range 4 {
			p.payload = rng.IntN(60)
			if i%2 > 0 {
				p.payload = rng.IntN(1500)
			}
			f := bareFrame(p, pad)
			inline := min(len(f)-5, 54+rng.IntN(123))
			nseg := 1 + rng.IntN(4)
			if len(f) <= nicspec.InlineMaxLong && i%3 > 0 {
				inline, nseg = len(f), 0
			}
			e := r.cutLong(w, f, inline, nseg, nicspec.WqeBlocksMax, rng)
			e.FPad = len(f) < nicspec.FrameMin-4
			flags(&e.WqeFields, rng.IntN(flagKinds))
			appending(&e.WqeFields, &p)
			all = append(all, e)
		}
	}
	r.transmitLong(x, all...)
	r.quiet()
	r.noFrames()
}

// appendedDigests has payload digests before the trailer, in it, about its end, and in the headers.
func appendedDigests(r *rig) {
	x, w := r.txSetup(1, 6)
	rng := rand.New(rand.NewPCG(97, 9))
	var all []nicspec.WqeFields
	for i := range 160 {
		e, p, f := r.randomAppend(w, rng)
		l4 := p.l3Off() + p.l3Len()
		e.FCrc32c, e.CrcStart = true, uint16(l4+20+rng.IntN(8))
		switch i % 4 {
		case 0:
			e.CrcOff = uint16(len(f) - 8 + rng.IntN(16)) // about the end of the pad bytes
		case 1:
			e.CrcOff = uint16(l4 + 20 + rng.IntN(max(1, len(f)-l4-20)))
		case 2:
			e.CrcStart, e.CrcOff = uint16(l4+24+rng.IntN(8)), uint16(l4+14+rng.IntN(12))
		case 3:
			e.CrcStart, e.CrcOff = uint16(len(f)-2+rng.IntN(9)), uint16(l4+20) // the range begins about the trailer
		}
		all = append(all, e)
	}
	r.transmit(x, all...)
	r.quiet()
	r.noFrames()
}

func appendedMarks(r *rig) {
	for mode := range uint8(4) {
		r.ecnOut(mode)
		x, w := r.txSetup(4+int(mode)%r.sizes.NumTxq, 5)
		rng := rand.New(rand.NewPCG(98, uint64(mode)))
		var all []nicspec.WqeFields
		for range 40 {
			e, _, _ := r.randomAppend(w, rng)
			all = append(all, e)
		}
		p := rocePacket(0) // the IPv4 header ends with what is appended: 54 B are gathered, and 58 count
		p.tos = 1
		e := r.cut(w, bareFrame(p, 0), 0, 1, rng)
		appending(&e, &p)
		e.FPad = true
		r.transmit(x, append(all, e)...)
		r.disable(nicspec.TableTxq, x.Number)
	}
	r.quiet()
	r.noFrames()
}
