package transmit

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// LongChecks send long entries of every size [T14].
var LongChecks = []kit.Check{
	{Name: "long entries/inline bytes, pieces and blocks", Rules: "T3 T4 T5 T14", Stalls: kit.Stalled, Run: longShapes},
	{Name: "long entries/about the ring's end", Rules: "T1 T2 T14", Stalls: kit.Stalled, Run: longWraps},
	{Name: "long entries/a doorbell inside an entry", Rules: "T1 T14 B8 C1", Stalls: kit.Stalled, Run: bellInside},
	{Name: "long entries/a doorbell a block", Rules: "T2 T14 Q2", Stalls: kit.Stalled, Run: bellABlock},
	{Name: "long entries/every opcode", Rules: "T3 T14 D1 T10", Stalls: kit.Stalled, Run: longOpcodes},
	{Name: "long entries/every check alone", Rules: "T3 T10 T14", Stalls: kit.Stalled, Run: longStatuses},
	{Name: "long entries/order of the checks", Rules: "T3 T14", Stalls: kit.Calm, Run: longStatusOrder},
	{Name: "long entries/a slot more than there is", Rules: "T3 T14", Stalls: kit.Stalled, Run: longSlots},
	{Name: "long entries/indices", Rules: "T10 T14 Q8", Stalls: kit.Calm, Run: longIndices},
	{Name: "long entries/tx_enable", Rules: "T1 T14 B8", Stalls: kit.Stalled, Run: longEnable},
	{Name: "long entries/disabled while one waits", Rules: "T11 T14", Stalls: kit.Stalled, Run: longDisabled},
	{Name: "long entries/reads of the ring that fail", Rules: "T2 T14", Stalls: kit.Stalled, Run: longRingErrors},
	{Name: "long entries/reads of pieces that fail", Rules: "T6 T14", Stalls: kit.Stalled, Run: longPieceErrors},
	{Name: "long entries/of several queues", Rules: "T1 T14 T10", Stalls: kit.Stalled, Run: longTogether},
}

// slotsOf returns how many slots an entry of the given number of blocks has [T14].
func slotsOf(blocks int) int { return nicspec.WqeSlots + (blocks-1)*nicspec.WqeMoreSlots }

// longSend returns a work entry of the given number of blocks that sends inline bytes and pieces.
// Unused slots are not zero.
func longSend(blocks int, inline []byte, pieces ...nicspec.SegFields) kit.LongEntry {
	b := kit.Pattern(slotsOf(blocks)*nicspec.WqeSlotBytes, uint64(len(inline)+7*len(pieces)+blocks))
	at := (len(inline) + nicspec.WqeSlotBytes - 1) / nicspec.WqeSlotBytes * nicspec.WqeSlotBytes
	copy(b, inline)
	for i := range pieces {
		if at+nicspec.SegSize <= len(b) {
			pieces[i].Encode(b[at:])
		}
		at += nicspec.WqeSlotBytes
	}
	e := kit.One(kit.SendEntry(nil))
	e.Nseg, e.InlineLen, e.Blocks = uint8(len(pieces)), uint8(len(inline)), uint8(blocks-1)
	e.More = b[copy(e.Slots[:], b):]
	return e
}

// CutLong spreads a frame over inline bytes and pieces of an entry of the given number of blocks.
func CutLong(r *kit.Rig, w []*kit.Window, frame []byte, inline, nseg, blocks int, rng *rand.Rand) kit.LongEntry {
	r.T.Helper()
	e := r.Cut(w, frame[inline:], 0, min(nseg, 1), rng)
	pieces := kit.Segments(&e)
	for len(pieces) < nseg { // cut the last piece in two, until there are enough
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

// blocksFor returns the fewest blocks that contain these inline bytes and pieces.
func blocksFor(inline, nseg int) int {
	slots := (inline+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes + nseg
	return max(1, (slots+nicspec.WqeMoreSlots)/nicspec.WqeMoreSlots)
}

func longShapes(r *kit.Rig) {
	x, w := r.TxSetup(3, 6)
	rng := rand.New(rand.NewPCG(81, 9))
	var all []kit.LongEntry
	for _, inline := range []int{0, 1, 15, 16, 17, 32, 47, 48, 49, 63, 64, 65, 96, 111, 112, 113, 128, 129, 159, 160,
		161, 175, 176} {
		for nseg := 0; nseg <= nicspec.SegMax; nseg++ {
			for blocks := blocksFor(inline, nseg); blocks <= nicspec.WqeBlocksMax; blocks++ {
				n := inline + nseg + kit.Lengths[rng.IntN(len(kit.Lengths)-1)] // without 9,216 B, which follows below
				if nseg == 0 {
					n = inline
				}
				if n = min(n, nicspec.FrameMax); n == 0 || nseg > 0 && r.Stall > 0 && rng.IntN(4) > 0 {
					continue
				}
				e := CutLong(r, w, kit.Pattern(n, rng.Uint64()), inline, nseg, blocks, rng)
				e.FPad, e.FComplete = n < nicspec.FrameMin, rng.IntN(3) > 0
				all = append(all, e)
			}
		}
	}
	all = append(all, CutLong(r, w, kit.Pattern(nicspec.FrameMax, 1), 112, 8, 4, rng),
		CutLong(r, w, kit.Pattern(nicspec.FrameMax, 2), 0, 8, 3, rng))
	r.Counted("entries of all shapes", kit.Steps{kit.DevCounter(nicspec.CntTxWqe): uint64(len(all)),
		kit.DevCounter(nicspec.CntTxCqe):     kit.Free,
		kit.PortCounter(nicspec.CntTxFrames): uint64(len(all)), kit.PortCounter(nicspec.CntTxBytes): kit.Free},
		func() { r.TransmitLong(x, all...) })
	r.NoFrames()
}

// AnyLong returns a valid entry of the given number of blocks.
func AnyLong(r *kit.Rig, w []*kit.Window, blocks int, rng *rand.Rand) kit.LongEntry {
	r.T.Helper()
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
	e := CutLong(r, w, kit.Pattern(n, rng.Uint64()), inline, nseg, blocks, rng)
	e.FPad = true
	return e
}

// longWraps begins entries of all sizes at every place of small rings; one of four blocks fills the
// smallest ring.
func longWraps(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	rng := rand.New(rand.NewPCG(82, 9))
	for log := 2; log <= 4; log++ {
		x := r.OpenTx(10+log, log)
		reads := map[uint64]int{}
		laps := x.PI
		for i := range 120 {
			e := AnyLong(r, w, 1+rng.IntN(nicspec.WqeBlocksMax), rng)
			if i%3 == 0 {
				e = AnyLong(r, w, nicspec.WqeBlocksMax, rng)
			}
			clear(reads)
			slots(r, x, reads)
			r.TransmitLong(x, e)
			require.Equal(r.T, e.BlocksOf(&r.Sizes)*nicspec.WqeBytes, len(reads),
				"bytes of the ring that were read for an entry of %d blocks", e.BlocksOf(&r.Sizes))
			for at, n := range reads {
				require.Equal(r.T, 1, n, "reads of byte %#x of the ring", at)
			}
		}
		r.Watch = nil
		require.Greater(r.T, x.PI-laps, uint16(4*x.Size()))
		t := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, x.Number))
		require.Equal(r.T, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{t.Pi, t.Ci, t.Cqi}, "indices count blocks")
	}
	r.Quiet()
	r.NoFrames()
}

// bellInside rings the doorbell block by block, with and without complete entries before the incomplete one. Complete
// entries must end, and the device must be idle while an entry is incomplete.
func bellInside(r *kit.Rig) {
	x, w := r.TxSetup(7, 4)
	rng := rand.New(rand.NewPCG(83, 9))
	for i := range 18 {
		blocks, before := 2+i%3, i/3%3
		var whole []kit.Posted
		first := x.PI
		for range before {
			whole = append(whole, r.EnqueueLong(x, AnyLong(r, w, 1+rng.IntN(3), rng))...)
		}
		at := x.PI
		last := r.EnqueueLong(x, AnyLong(r, w, blocks, rng))
		for k := 1; k < blocks; k++ {
			if i%2 == 0 && k < blocks-1 {
				continue // one doorbell covers all blocks but the last
			}
			r.Doorbell(false, x.Number, uint32(at)+uint32(k))
			if k == 1 || i%2 == 0 {
				r.Ended(x, first, whole)
			}
			r.Run(400)
			r.Quiet()
			r.BusyFalls() // an incomplete entry is not work in progress
			r.Nothing(&x.Ring)
			r.NoFrames()
			e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, x.Number))
			require.Equal(r.T, [2]uint16{at + uint16(k), at}, [2]uint16{e.Pi, e.Ci},
				"indices while an entry of %d blocks waits for %d of them", blocks, blocks-k)
		}
		more := r.EnqueueLong(x, AnyLong(r, w, 1+rng.IntN(2), rng))
		r.RingDoorbell(&x.Ring)
		r.Ended(x, at, append(last, more...))
		r.NoFrames()
	}
}

// bellABlock rings a doorbell for each block, as fast as doorbells can be written.
func bellABlock(r *kit.Rig) {
	x, w := r.TxSetup(7, 5)
	rng := rand.New(rand.NewPCG(84, 9))
	for n := range 12 {
		var all []kit.Posted
		first := x.PI
		for x.PI-first < uint16(x.Size()-4) {
			all = append(all, r.EnqueueLong(x, AnyLong(r, w, 1+rng.IntN(4), rng))...)
		}
		reads := map[uint64]int{}
		slots(r, x, reads)
		for pi := first; pi != x.PI; pi++ {
			r.Doorbell(false, x.Number, uint32(pi+1))
			if n%3 > 0 {
				r.Run(rng.IntN(n * 8))
			}
		}
		r.Ended(x, first, all)
		for at, n := range reads {
			require.Equal(r.T, 1, n, "reads of byte %#x of the ring", at)
		}
	}
	r.Watch = nil
	r.Quiet()
	r.NoFrames()
}

// longOpcodes posts every opcode with every number of blocks. An entry takes the blocks that it names, so that the
// device must find the entry behind it, even if its opcode allows only one block.
func longOpcodes(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	for _, w := range w {
		r.Writable(w)
	}
	rng := rand.New(rand.NewPCG(85, 9))
	var all []kit.LongEntry
	for blocks := range nicspec.WqeBlocksMax {
		for _, op := range []nicspec.Opcode{nicspec.OpcodeNop, nicspec.OpcodeSend, nicspec.OpcodeCopy,
			nicspec.OpcodeInvalidate,
			nicspec.OpcodeCopyInvalidate, nicspec.OpcodeCopyInvalidate + 1, 0x7f, 0xff} {
			for k := range 2 {
				e := kit.One(withOpcode(r, op, w, rng))
				e.Blocks, e.FComplete = uint8(blocks), k == 0
				e.More = kit.Pattern(blocks*nicspec.WqeBytes, rng.Uint64())
				all = append(all, e, AnyLong(r, w, 1+k, rng))
			}
		}
	}
	r.Counted("every opcode", kit.Steps{kit.DevCounter(nicspec.CntTxWqe): uint64(len(all)),
		kit.DevCounter(nicspec.CntTxErr): kit.Free, kit.DevCounter(nicspec.CntTxCqe): kit.Free,
		kit.DevCounter(nicspec.CntCopyBytes): kit.Free, kit.PortCounter(nicspec.CntTxFrames): kit.Free,
		kit.PortCounter(nicspec.CntTxBytes): kit.Free}, func() { r.TransmitLong(x, all...) })
	r.NoFrames()
}

// longFlaw is a fault in an entry of four blocks with 64 inline bytes and eight pieces of 100 B.
type longFlaw struct {
	name   string
	status nicspec.Status
	mod    func(*kit.LongEntry)
}

// piece returns a function that changes piece i of an entry, in whichever block it lies.
func piece(i int, mod func(*nicspec.SegFields)) func(*kit.LongEntry) {
	return func(w *kit.LongEntry) {
		b := w.AllSlots()
		at := b[(kit.InlineSlots(&w.WqeFields)+i)*nicspec.WqeSlotBytes:][:nicspec.SegSize]
		s := nicspec.DecodeSeg(at)
		mod(&s)
		s.Encode(at)
		w.More = b[copy(w.Slots[:], b):]
	}
}

func longFlaws() []longFlaw {
	type s = nicspec.SegFields
	format := func(name string, mod func(*kit.LongEntry)) longFlaw {
		return longFlaw{name, nicspec.StatusBadFormat, mod}
	}
	all := []longFlaw{
		{"opcode", nicspec.StatusBadOpcode, func(w *kit.LongEntry) { w.Opcode = 200 }},
		format("f_rsvd", func(w *kit.LongEntry) { w.FRsvd = 4 }),
		format("f_fence", func(w *kit.LongEntry) { w.FFence = true }),
		format("f_append", func(w *kit.LongEntry) { w.FAppend = true }),
		format("inline_len 177", func(w *kit.LongEntry) { w.InlineLen, w.Nseg = 177, 0 }),
		format("inline_len 240", func(w *kit.LongEntry) { w.InlineLen, w.Nseg = 240, 0 }),
		format("nseg 9", ninePieces), format("nseg 15", func(w *kit.LongEntry) { w.Nseg, w.InlineLen = 15, 0 }),
		format("a slot too few for the last piece", func(w *kit.LongEntry) { w.InlineLen = 113 }),
		format("slots of two blocks fewer", func(w *kit.LongEntry) { w.Blocks, w.More = 1, w.More[:64] }),
		format("port", func(w *kit.LongEntry) { w.Port = 2 }),
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all, format(name("0 B"), piece(i, func(s *s) { s.Len = 0 })),
			format(name("key bit 16"), piece(i, func(s *s) { s.Key |= 1 << 16 })),
			format(name("key bit 23"), piece(i, func(s *s) { s.Key |= 1 << 23 })))
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all,
			longFlaw{name("too long"), nicspec.StatusBadLength,
				piece(i, func(s *s) { s.Len = nicspec.FrameMax - 763 })},
			longFlaw{name("far too long"), nicspec.StatusBadLength, piece(i, func(s *s) { s.Len = 0xffff_fd40 })})
	}
	for i := range nicspec.SegMax {
		name := func(what string) string { return fmt.Sprintf("%s, piece %d", what, i) }
		all = append(all, longFlaw{name("key not valid"), nicspec.StatusBadKey, piece(i, Index(kit.KeyInvalid))},
			longFlaw{name("key beyond by a bit"), nicspec.StatusBadKey, piece(i, func(s *s) { s.Key |= 0x8000 })},
			longFlaw{name("variant"), nicspec.StatusBadKey, piece(i, func(s *s) { s.Key ^= 1 << 24 })},
			longFlaw{name("rights"), nicspec.StatusKeyRights, piece(i, Index(kit.KeyWriteOnly))},
			longFlaw{name("bounds"), nicspec.StatusKeyBounds, piece(i, Index(kit.KeyShort))},
			longFlaw{name("below the key"), nicspec.StatusKeyBounds, piece(i, func(s *s) { s.Addr = 0 })})
	}
	return append(all, longFlaw{"f_ip_csum without IPv4", nicspec.StatusBadOffload,
		func(w *kit.LongEntry) { w.FIpCsum = true }})
}

// ninePieces gives an entry one piece more than allowed, all of them valid.
func ninePieces(w *kit.LongEntry) {
	p := w.Segments()
	id := w.WqeId
	*w = longSend(4, nil, append(p, p[0])...)
	w.WqeId = id
}

// soundLong returns the valid entry that longFlaws change.
func soundLong(r *kit.Rig, w *kit.Window, seed uint64) kit.LongEntry {
	r.T.Helper()
	var p [nicspec.SegMax]nicspec.SegFields
	for i := range p {
		p[i] = r.Piece(w, i*3, 64, kit.Pattern(100, seed+uint64(i)))
	}
	return longSend(4, make([]byte, 64), p[:]...)
}

func longStatuses(r *kit.Rig) {
	x, w := r.TxSetup(2, 5)
	r.BadKeys(w[0])
	var all []kit.LongEntry
	flaws := longFlaws()
	for i, f := range flaws {
		e := soundLong(r, w[0], uint64(i))
		f.mod(&e)
		_, status := kit.Expected(&e, 0, r.Keys, &r.Sizes, r.Load)
		require.Equal(r.T, f.status, status, "the check itself: %s", f.name)
		e.FComplete = i%2 == 0
		all = append(all, e)
		if i%4 == 0 {
			all = append(all, soundLong(r, w[0], uint64(1000+i)), kit.One(r.Sound(w[1], uint64(i))))
		}
	}
	r.TransmitLong(x, all...)
	r.Quiet()
	r.NoFrames()
}

func longStatusOrder(r *kit.Rig) {
	x, w := r.TxSetup(2, 7)
	r.BadKeys(w[0])
	flaws := longFlaws()
	var all []kit.LongEntry
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 2 + (i+j)%7 {
			e := soundLong(r, w[0], uint64(i*j))
			flaws[j].mod(&e)
			nseg, inline, blocks := e.Nseg, e.InlineLen, e.Blocks
			if flaws[i].mod(&e); e.Nseg != nseg || e.InlineLen != inline || e.Blocks != blocks {
				continue // the first flaw has moved the entry's pieces
			}
			all = append(all, e)
		}
	}
	r.TransmitLong(x, all...)
	r.Quiet()
	r.NoFrames()
}
