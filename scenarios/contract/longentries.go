package contract

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var longChecks = []check{
	{"long entries/inline bytes, pieces and blocks", "T3 T4 T5 T14", stalled, longShapes},
	{"long entries/about the ring's end", "T1 T2 T14", stalled, longWraps},
	{"long entries/a doorbell inside an entry", "T1 T14 B8 C1", stalled, bellInside},
	{"long entries/a doorbell a block", "T2 T14 Q2", stalled, bellABlock},
	{"long entries/every opcode", "T3 T14 D1 T10", stalled, longOpcodes},
	{"long entries/every check alone", "T3 T10 T14", stalled, longStatuses},
	{"long entries/order of the checks", "T3 T14", calm, longStatusOrder},
	{"long entries/a slot more than there is", "T3 T14", stalled, longSlots},
	{"long entries/indices", "T10 T14 Q8", calm, longIndices},
	{"long entries/tx_enable", "T1 T14 B8", stalled, longEnable},
	{"long entries/disabled while one waits", "T11 T14", stalled, longDisabled},
	{"long entries/reads of the ring that fail", "T2 T14", stalled, longRingErrors},
	{"long entries/reads of pieces that fail", "T6 T14", stalled, longPieceErrors},
	{"long entries/of several queues", "T1 T14 T10", stalled, longTogether},
}

// slotsOf is how many slots an entry of so many blocks has [T14].
func slotsOf(blocks int) int { return nicspec.WqeSlots + (blocks-1)*nicspec.WqeMoreSlots }

// longSend is a work entry of that many blocks that sends inline bytes and pieces. Slots that are not used are not zero.
func longSend(blocks int, inline []byte, pieces ...nicspec.SegFields) longEntry {
	b := pattern(slotsOf(blocks)*nicspec.WqeSlotBytes, uint64(len(inline)+7*len(pieces)+blocks))
	at := (len(inline) + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes * nicspec.WqeSlotBytes
	copy(b, inline)
	for i := range pieces {
		if at+nicspec.SegSize <= len(b) {
			pieces[i].Encode(b[at:])
		}
		at += nicspec.WqeSlotBytes
	}
	e := one(sendEntry(nil))
	e.Nseg, e.InlineLen, e.Blocks = uint8(len(pieces)), uint8(len(inline)), uint8(blocks-1)
	e.more = b[copy(e.Slots[:], b):]
	return e
}

// cutLong spreads a frame over inline bytes and pieces of an entry of that many blocks.
func (r *rig) cutLong(w []*window, frame []byte, inline, nseg, blocks int, rng *rand.Rand) longEntry {
	r.t.Helper()
	e := r.cut(w, frame[inline:], 0, min(nseg, 1), rng)
	pieces := segments(&e)
	for len(pieces) < nseg { // the last one is cut in two
		last := &pieces[len(pieces)-1]
		n := 1 + rng.IntN(int(last.Len)-(nseg-len(pieces)))
		next := *last
		next.Addr += uint64(n)
		next.Len -= uint32(n)
		last.Len = uint32(n)
		pieces = append(pieces, next)
	}
	return longSend(blocks, frame[:inline], pieces...)
}

// blocksFor is the fewest blocks for inline bytes and pieces.
func blocksFor(inline, nseg int) int {
	slots := (inline+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes + nseg
	return max(1, (slots+nicspec.WqeMoreSlots)/nicspec.WqeMoreSlots)
}

func longShapes(r *rig) {
	x, w := r.txSetup(3, 6)
	rng := rand.New(rand.NewPCG(81, 9))
	var all []longEntry
	for _, inline := range []int{0, 1, 15, 16, 17, 32, 47, 48, 49, 63, 64, 65, 96, 111, 112, 113, 128, 129, 159, 160, 161, 175, 176} {
		for nseg := 0; nseg <= nicspec.SegMax; nseg++ {
			for blocks := blocksFor(inline, nseg); blocks <= nicspec.WqeBlocksMax; blocks++ {
				n := inline + nseg + lengths[rng.IntN(len(lengths)-1)] // 9,216 B are tried below
				if nseg == 0 {
					n = inline
				}
				if n = min(n, nicspec.FrameMax); n == 0 || nseg > 0 && r.stall > 0 && rng.IntN(4) > 0 {
					continue
				}
				e := r.cutLong(w, pattern(n, rng.Uint64()), inline, nseg, blocks, rng)
				e.FPad, e.FComplete = n < nicspec.FrameMin, rng.IntN(3) > 0
				all = append(all, e)
			}
		}
	}
	all = append(all, r.cutLong(w, pattern(nicspec.FrameMax, 1), 112, 8, 4, rng), r.cutLong(w, pattern(nicspec.FrameMax, 2), 0, 8, 3, rng))
	r.counted("entries of all shapes", steps{dev(nicspec.CntTxWqe): uint64(len(all)), dev(nicspec.CntTxCqe): free,
		port(nicspec.CntTxFrames): uint64(len(all)), port(nicspec.CntTxBytes): free}, func() { r.transmitLong(x, all...) })
	r.noFrames()
}

// anyLong is a sound entry of that many blocks.
func (r *rig) anyLong(w []*window, blocks int, rng *rand.Rand) longEntry {
	r.t.Helper()
	slots := slotsOf(blocks)
	nseg := min(rng.IntN(slots+1), nicspec.SegMax)
	inline := min(rng.IntN((slots-nseg)*nicspec.WqeSlotBytes+1), nicspec.InlineMaxLong)
	if nseg == 0 {
		inline = max(inline, 1)
	}
	n := inline
	if nseg > 0 {
		n += nseg + rng.IntN(600)
	}
	e := r.cutLong(w, pattern(n, rng.Uint64()), inline, nseg, blocks, rng)
	e.FPad = true
	return e
}

// longWraps has entries of all sizes begin at every place of small rings; one of four blocks fills the smallest ring.
func longWraps(r *rig) {
	_, w := r.txSetup(0, 2)
	rng := rand.New(rand.NewPCG(82, 9))
	for log := 2; log <= 4; log++ {
		x := r.openTx(10+log, log)
		reads := map[uint64]int{}
		laps := x.PI
		for i := range 120 {
			e := r.anyLong(w, 1+rng.IntN(nicspec.WqeBlocksMax), rng)
			if i%3 == 0 {
				e = r.anyLong(w, nicspec.WqeBlocksMax, rng)
			}
			clear(reads)
			r.slots(x, reads)
			r.transmitLong(x, e)
			require.Equal(r.t, e.blocks(&r.sizes)*nicspec.WqeBytes, len(reads), "bytes of the ring that were read for an entry of %d blocks", e.blocks(&r.sizes))
			for at, n := range reads {
				require.Equal(r.t, 1, n, "reads of byte %#x of the ring", at)
			}
		}
		r.watch = nil
		require.Greater(r.t, x.PI-laps, uint16(4*x.Size()))
		t := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, x.Number))
		require.Equal(r.t, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{t.Pi, t.Ci, t.Cqi}, "indices count blocks")
	}
	r.quiet()
	r.noFrames()
}

// bellInside tells of an entry block by block, with and without whole entries before it: those end, and while it waits the
// device has nothing to do.
func bellInside(r *rig) {
	x, w := r.txSetup(7, 4)
	rng := rand.New(rand.NewPCG(83, 9))
	for i := range 18 {
		blocks, before := 2+i%3, i/3%3
		var whole []posted
		first := x.PI
		for range before {
			whole = append(whole, r.enqueueLong(x, r.anyLong(w, 1+rng.IntN(3), rng))...)
		}
		at := x.PI
		last := r.enqueueLong(x, r.anyLong(w, blocks, rng))
		for k := 1; k < blocks; k++ {
			if i%2 == 0 && k < blocks-1 {
				continue // one doorbell for all blocks but the last
			}
			r.doorbell(false, x.Number, uint32(at)+uint32(k))
			if k == 1 || i%2 == 0 {
				r.ended(x, first, whole)
			}
			r.run(400)
			r.quiet()
			r.busyFalls() // it waits: not busy
			r.nothing(&x.ring)
			r.noFrames()
			e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, x.Number))
			require.Equal(r.t, [2]uint16{at + uint16(k), at}, [2]uint16{e.Pi, e.Ci}, "indices while an entry of %d blocks waits for %d of them", blocks, blocks-k)
		}
		more := r.enqueueLong(x, r.anyLong(w, 1+rng.IntN(2), rng))
		r.tell(&x.ring)
		r.ended(x, at, append(last, more...))
		r.noFrames()
	}
}

// bellABlock rings for each block as fast as doorbells go.
func bellABlock(r *rig) {
	x, w := r.txSetup(7, 5)
	rng := rand.New(rand.NewPCG(84, 9))
	for n := range 12 {
		var all []posted
		first := x.PI
		for x.PI-first < uint16(x.Size()-4) {
			all = append(all, r.enqueueLong(x, r.anyLong(w, 1+rng.IntN(4), rng))...)
		}
		reads := map[uint64]int{}
		r.slots(x, reads)
		for pi := first; pi != x.PI; pi++ {
			r.doorbell(false, x.Number, uint32(pi+1))
			if n%3 > 0 {
				r.run(rng.IntN(n * 8))
			}
		}
		r.ended(x, first, all)
		for at, n := range reads {
			require.Equal(r.t, 1, n, "reads of byte %#x of the ring", at)
		}
	}
	r.watch = nil
	r.quiet()
	r.noFrames()
}

// longOpcodes has every kind of opcode with every number of blocks: it takes the blocks that it names, and what follows it in
// the ring is found. Only Send and Nop may have more than one.
func longOpcodes(r *rig) {
	x, w := r.txSetup(2, 5)
	for _, w := range w {
		r.writable(w)
	}
	rng := rand.New(rand.NewPCG(85, 9))
	var all []longEntry
	for blocks := range nicspec.WqeBlocksMax {
		for _, op := range []nicspec.Opcode{nicspec.OpcodeNop, nicspec.OpcodeSend, nicspec.OpcodeCopy, nicspec.OpcodeInvalidate,
			nicspec.OpcodeCopyInvalidate, nicspec.OpcodeCopyInvalidate + 1, 0x7f, 0xff} {
			for k := range 2 {
				e := one(r.withOpcode(op, w, rng))
				e.Blocks, e.FComplete = uint8(blocks), k == 0
				e.more = pattern(blocks*nicspec.WqeBytes, rng.Uint64())
				all = append(all, e, r.anyLong(w, 1+k, rng))
			}
		}
	}
	r.counted("every opcode", steps{dev(nicspec.CntTxWqe): uint64(len(all)), dev(nicspec.CntTxErr): free, dev(nicspec.CntTxCqe): free,
		dev(nicspec.CntCopyBytes): free, port(nicspec.CntTxFrames): free, port(nicspec.CntTxBytes): free}, func() { r.transmitLong(x, all...) })
	r.noFrames()
}

// longFlaw spoils an entry of four blocks that names eight pieces of 100 B after 64 inline bytes.
type longFlaw struct {
	name   string
	status nicspec.Status
	mod    func(*longEntry)
}

// piece changes piece i of an entry, in whichever block it is.
func piece(i int, mod func(*nicspec.SegFields)) func(*longEntry) {
	return func(w *longEntry) {
		b := w.slots()
		at := b[(inlineSlots(&w.WqeFields)+i)*nicspec.WqeSlotBytes:][:nicspec.SegSize]
		s := nicspec.DecodeSeg(at)
		mod(&s)
		s.Encode(at)
		w.more = b[copy(w.Slots[:], b):]
	}
}

func longFlaws() []longFlaw {
	type s = nicspec.SegFields
	format := func(name string, mod func(*longEntry)) longFlaw { return longFlaw{name, nicspec.StatusBadFormat, mod} }
	all := []longFlaw{
		{"opcode", nicspec.StatusBadOpcode, func(w *longEntry) { w.Opcode = 200 }},
		format("f_rsvd", func(w *longEntry) { w.FRsvd = 4 }), format("f_fence", func(w *longEntry) { w.FFence = true }),
		format("f_append", func(w *longEntry) { w.FAppend = true }),
		format("inline_len 177", func(w *longEntry) { w.InlineLen, w.Nseg = 177, 0 }), format("inline_len 240", func(w *longEntry) { w.InlineLen, w.Nseg = 240, 0 }),
		format("nseg 9", ninePieces), format("nseg 15", func(w *longEntry) { w.Nseg, w.InlineLen = 15, 0 }),
		format("a slot too few for the last piece", func(w *longEntry) { w.InlineLen = 113 }),
		format("slots of two blocks fewer", func(w *longEntry) { w.Blocks, w.more = 1, w.more[:64] }),
		format("port", func(w *longEntry) { w.Port = 2 }),
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all, format(name("0 B"), piece(i, func(s *s) { s.Len = 0 })), format(name("key bit 16"), piece(i, func(s *s) { s.Key |= 1 << 16 })),
			format(name("key bit 23"), piece(i, func(s *s) { s.Key |= 1 << 23 })))
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all, longFlaw{name("too long"), nicspec.StatusBadLength, piece(i, func(s *s) { s.Len = nicspec.FrameMax - 763 })},
			longFlaw{name("far too long"), nicspec.StatusBadLength, piece(i, func(s *s) { s.Len = 0xffff_fd40 })})
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all, longFlaw{name("key not valid"), nicspec.StatusBadKey, piece(i, index(keyInvalid))},
			longFlaw{name("key beyond by a bit"), nicspec.StatusBadKey, piece(i, func(s *s) { s.Key |= 0x8000 })},
			longFlaw{name("variant"), nicspec.StatusBadKey, piece(i, func(s *s) { s.Key ^= 1 << 24 })},
			longFlaw{name("rights"), nicspec.StatusKeyRights, piece(i, index(keyWriteOnly))},
			longFlaw{name("bounds"), nicspec.StatusKeyBounds, piece(i, index(keyShort))},
			longFlaw{name("below the key"), nicspec.StatusKeyBounds, piece(i, func(s *s) { s.Addr = 0 })})
	}
	return append(all, longFlaw{"f_ip_csum without IPv4", nicspec.StatusBadOffload, func(w *longEntry) { w.FIpCsum = true }})
}

// ninePieces has an entry name one piece more than it may, all of them sound.
func ninePieces(w *longEntry) {
	p := w.segments()
	id := w.WqeId
	*w = longSend(4, nil, append(p, p[0])...)
	w.WqeId = id
}

// soundLong is the entry that longFlaws spoil.
func (r *rig) soundLong(w *window, seed uint64) longEntry {
	r.t.Helper()
	var p [nicspec.SegMax]nicspec.SegFields
	for i := range p {
		p[i] = r.piece(w, i*3, 64, pattern(100, seed+uint64(i)))
	}
	return longSend(4, make([]byte, 64), p[:]...)
}

func longStatuses(r *rig) {
	x, w := r.txSetup(2, 5)
	r.badKeys(w[0])
	var all []longEntry
	flaws := longFlaws()
	for i, f := range flaws {
		e := r.soundLong(w[0], uint64(i))
		f.mod(&e)
		_, status := expected(&e, 0, r.keys, &r.sizes, r.load)
		require.Equal(r.t, f.status, status, "the check itself: %s", f.name)
		e.FComplete = i%2 == 0
		all = append(all, e)
		if i%4 == 0 {
			all = append(all, r.soundLong(w[0], uint64(1000+i)), one(r.sound(w[1], uint64(i))))
		}
	}
	r.transmitLong(x, all...)
	r.quiet()
	r.noFrames()
}

func longStatusOrder(r *rig) {
	x, w := r.txSetup(2, 7)
	r.badKeys(w[0])
	flaws := longFlaws()
	var all []longEntry
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 2 + (i+j)%7 {
			e := r.soundLong(w[0], uint64(i*j))
			flaws[j].mod(&e)
			nseg, inline, blocks := e.Nseg, e.InlineLen, e.Blocks
			if flaws[i].mod(&e); e.Nseg != nseg || e.InlineLen != inline || e.Blocks != blocks {
				continue // where its pieces are is another matter now
			}
			all = append(all, e)
		}
	}
	r.transmitLong(x, all...)
	r.quiet()
	r.noFrames()
}

// longSlots has entries whose last pieces would stand one slot and more behind their last block, each after an entry of four
// blocks with sound pieces in these slots: nothing of an entry is what another brought.
func longSlots(r *rig) {
	x, w := r.txSetup(2, 5)
	var all []longEntry
	for blocks := 1; blocks < nicspec.WqeBlocksMax; blocks++ {
		for beyond := range 3 {
			inline := max(0, slotsOf(blocks)+beyond-nicspec.SegMax) * nicspec.WqeSlotBytes
			for _, full := range []int{0, 64, 112} { // where the pieces of the entry before stand
				before := r.soundLong(w[0], uint64(full))
				all = append(all, longSend(nicspec.WqeBlocksMax, make([]byte, full), before.segments()...))
				p := r.soundLong(w[1], uint64(blocks))
				pieces := p.segments()[:min(nicspec.SegMax, slotsOf(blocks)+beyond)]
				e := longSend(blocks, make([]byte, inline), pieces...)
				_, status := expected(&e, 0, r.keys, &r.sizes, r.load)
				require.Equal(r.t, []nicspec.Status{nicspec.StatusOk, nicspec.StatusBadFormat, nicspec.StatusBadFormat}[beyond], status, "the check itself")
				all = append(all, e)
			}
		}
	}
	r.transmitLong(x, all...)
	r.quiet()
	r.noFrames()
}

// longIndices has the index of blocks wrap, and that of completion entries go its own way.
func longIndices(r *rig) {
	x, w := r.txSetup(4, 10)
	rng := rand.New(rand.NewPCG(86, 9))
	for laps := 0; laps < 1<<16+2048; {
		var all []longEntry
		for n := 0; n < x.Size()-4; {
			e := one(nicspec.WqeFields{Opcode: nicspec.OpcodeNop, Blocks: uint8(rng.IntN(4)), FComplete: rng.IntN(8) == 0})
			if rng.IntN(40) == 0 {
				e = r.anyLong(w, 1+rng.IntN(4), rng)
			}
			n += e.blocks(&r.sizes)
			laps += e.blocks(&r.sizes)
			all = append(all, e)
		}
		r.transmitLong(x, all...)
	}
	t := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, x.Number))
	require.Equal(r.t, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{t.Pi, t.Ci, t.Cqi})
	r.quiet()
	r.noFrames()
}
