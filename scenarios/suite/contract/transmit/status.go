package transmit

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TxStatusChecks produce every status of a work entry.
var TxStatusChecks = []kit.Check{
	{Name: "statuses/every check alone", Rules: "T3 T10 G5", Stalls: kit.Stalled, Run: everyStatus},
	{Name: "statuses/order of the checks", Rules: "T3", Stalls: kit.Calm, Run: statusOrder},
	{Name: "statuses/bounds of keys", Rules: "T3 T4", Stalls: kit.Calm, Run: keyBounds},
	{Name: "statuses/entries at random", Rules: "T3 T4 T5 T7 T8 T10", Stalls: kit.Stalled, Run: randomEntries},
	{Name: "statuses/keys are rewritten", Rules: "T12 T3", Stalls: kit.Stalled, Run: keysRewritten},
	{Name: "statuses/later opcodes and offloads", Rules: "T3", Stalls: kit.Calm, Run: laterEntries},
}

// Flaw is a fault in an entry, with the status that it causes if nothing else is wrong. Lists of flaws are in the order
// in which the device must check them.
type Flaw struct {
	Name   string
	Status nicspec.Status
	Mod    func(*nicspec.WqeFields)
}

// Seg changes piece i of an entry without inline bytes.
func Seg(i int, mod func(*nicspec.SegFields)) func(*nicspec.WqeFields) {
	return func(w *nicspec.WqeFields) {
		at := w.Slots[i*nicspec.WqeSlotBytes:][:nicspec.SegSize]
		s := nicspec.DecodeSeg(at)
		mod(&s)
		s.Encode(at)
	}
}

func Index(i uint32) func(*nicspec.SegFields) {
	return func(s *nicspec.SegFields) { s.Key = s.Key&^0xffff | i }
}

// Flaws returns the flaws of an entry with three pieces of 100 B. All flaws of a piece come before those of later
// pieces.
func Flaws(r *kit.Rig) []Flaw {
	type w = nicspec.WqeFields
	type s = nicspec.SegFields
	unknown := nicspec.OpcodeCopy
	if r.Sizes.Has(nicspec.PartCopy) {
		unknown = nicspec.OpcodeCopyInvalidate + 1
	}
	all := []Flaw{
		{"the first opcode that there is not", nicspec.StatusBadOpcode, func(e *w) { e.Opcode = unknown }},
		{"opcode 99", nicspec.StatusBadOpcode, func(e *w) { e.Opcode = 99 }},
		{"f_rsvd, lowest", nicspec.StatusBadFormat, func(e *w) { e.FRsvd = 1 }},
		{"f_rsvd, highest", nicspec.StatusBadFormat, func(e *w) { e.FRsvd = 0x10 }},
		{"f_fence", nicspec.StatusBadFormat, func(e *w) { e.FFence = true }},
		{"f_append without f_icrc", nicspec.StatusBadFormat, func(e *w) { e.FAppend = true }},
		{"f_udp_csum and f_udp_zero", nicspec.StatusBadFormat, func(e *w) { e.FUdpCsum, e.FUdpZero = true, true }},
		{"inline_len 49", nicspec.StatusBadFormat, func(e *w) { e.InlineLen = 49 }},
		{"inline_len 255", nicspec.StatusBadFormat, func(e *w) { e.InlineLen = 255 }},
		{"nseg 4", nicspec.StatusBadFormat, func(e *w) { e.Nseg = 4 }},
		{"nseg 255", nicspec.StatusBadFormat, func(e *w) { e.Nseg = 255 }},
		{"no slot for the last piece", nicspec.StatusBadFormat, func(e *w) { e.InlineLen = 1 }},
		{"port beyond the build", nicspec.StatusBadFormat, func(e *w) { e.Port = uint8(r.Sizes.Ports) }},
		{"port 255", nicspec.StatusBadFormat, func(e *w) { e.Port = 255 }},
	}
	for i := range 3 {
		all = append(all,
			Flaw{fmt.Sprintf("piece %d of 0 B", i), nicspec.StatusBadFormat, Seg(i, func(s *s) { s.Len = 0 })},
			Flaw{fmt.Sprintf("key bit 16 of piece %d", i), nicspec.StatusBadFormat,
				Seg(i, func(s *s) { s.Key |= 1 << 16 })},
			Flaw{fmt.Sprintf("key bit 23 of piece %d", i), nicspec.StatusBadFormat,
				Seg(i, func(s *s) { s.Key |= 1 << 23 })})
	}
	all = append(all,
		Flaw{"one byte too long", nicspec.StatusBadLength, Seg(1, func(s *s) { s.Len = nicspec.FrameMax - 199 })},
		Flaw{"far too long", nicspec.StatusBadLength, Seg(1, func(s *s) { s.Len = 0xffff_ffff })},
		Flaw{"too long beyond 32 bits", nicspec.StatusBadLength, func(e *w) {
			for i := range 3 {
				Seg(i, func(s *nicspec.SegFields) { s.Len = 0x5555_5559 })(e) // the sum of lengths is 2^32 + 11
			}
		}},
		Flaw{"too long by 14 bits", nicspec.StatusBadLength, Seg(2, func(s *s) { s.Len = 1<<14 + 100 })},
		Flaw{"too short", nicspec.StatusBadLength,
			func(e *w) { e.Nseg = 1; Seg(0, func(s *nicspec.SegFields) { s.Len = 59 })(e) }})
	for i := range 3 {
		all = append(all,
			Flaw{fmt.Sprintf("key beyond the build, piece %d", i), nicspec.StatusBadKey,
				Seg(i, Index(uint32(r.Sizes.NumKeys)))},
			Flaw{fmt.Sprintf("key 65535, piece %d", i), nicspec.StatusBadKey, Seg(i, Index(0xffff))},
			Flaw{fmt.Sprintf("key beyond by a bit, piece %d", i), nicspec.StatusBadKey,
				Seg(i, func(s *s) { s.Key |= 0x8000 })},
			Flaw{fmt.Sprintf("key never written, piece %d", i), nicspec.StatusBadKey, Seg(i, Index(77))},
			Flaw{fmt.Sprintf("key not valid, piece %d", i), nicspec.StatusBadKey, Seg(i, Index(kit.KeyInvalid))},
			Flaw{fmt.Sprintf("variant, piece %d", i), nicspec.StatusBadKey, Seg(i, func(s *s) { s.Key ^= 1 << 31 })},
			Flaw{fmt.Sprintf("rights, piece %d", i), nicspec.StatusKeyRights, Seg(i, Index(kit.KeyWriteOnly))},
			Flaw{fmt.Sprintf("bounds, piece %d", i), nicspec.StatusKeyBounds, Seg(i, Index(kit.KeyShort))},
			Flaw{fmt.Sprintf("empty key, piece %d", i), nicspec.StatusKeyBounds, Seg(i, Index(kit.KeyEmpty))},
			Flaw{fmt.Sprintf("below the key, piece %d", i), nicspec.StatusKeyBounds, Seg(i, func(s *s) { s.Addr = 0 })})
	}
	return append(all,
		Flaw{"f_crc32c", nicspec.StatusBadOffload, func(e *w) { e.FCrc32c = true }},
		Flaw{"f_ip_csum without IPv4", nicspec.StatusBadOffload, func(e *w) { e.FIpCsum = true }})
}

// Flawed returns an entry with a flaw, and checks that kit.Expected gives it the flaw's status. complete sets the
// entry's flag to report its end.
func Flawed(r *kit.Rig, f *Flaw, e nicspec.WqeFields, complete bool) nicspec.WqeFields {
	r.T.Helper()
	f.Mod(&e)
	long := kit.One(e)
	_, status := kit.Expected(&long, 0, r.Keys, &r.Sizes, r.Load)
	require.Equal(r.T, f.Status, status, "the check itself: %s", f.Name)
	e.FComplete = complete
	return e
}

func everyStatus(r *kit.Rig) {
	x, w := r.TxSetup(2, 4)
	r.BadKeys(w[0])
	var all []nicspec.WqeFields
	flaws := Flaws(r)
	for i, f := range flaws {
		all = append(all, Flawed(r, &f, r.Sound(w[0], uint64(i)), i%2 == 0))
		if i%4 == 0 {
			all = append(all, r.Sound(w[0], uint64(i)))
		}
	}
	good := len(all) - len(flaws)
	r.Counted("entries that fail", kit.Steps{
		kit.DevCounter(nicspec.CntTxWqe): uint64(len(all)), kit.DevCounter(nicspec.CntTxErr): uint64(len(flaws)),
		kit.DevCounter(nicspec.CntTxCqe):     uint64(len(all)),
		kit.PortCounter(nicspec.CntTxFrames): uint64(good), kit.PortCounter(nicspec.CntTxBytes): uint64(300 * good),
	}, func() { r.Transmit(x, all...) })
	r.NoFrames()
	e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
	require.Equal(r.T, nicspec.QueueStateRun, e.State, "a failed entry does not stop its queue")
}

// statusOrder posts entries with two flaws: the flaw that is checked first must determine the status.
func statusOrder(r *kit.Rig) {
	x, w := r.TxSetup(2, 6)
	r.BadKeys(w[0])
	flaws := Flaws(r)
	var all []nicspec.WqeFields
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 1 + (i+j)%3 {
			e := r.Sound(w[0], uint64(i*j))
			flaws[j].Mod(&e)
			flaws[i].Mod(&e) // computed from the whole entry, since the second flaw may undo the first
			all = append(all, e)
		}
	}
	r.Transmit(x, all...)
}

// keyBounds puts pieces at the edges of keys, and keys at the edges of the address space.
func keyBounds(r *kit.Rig) {
	x, _ := r.TxSetup(4, 4)
	mem := r.Alloc(nicspec.EndpointHost, 8192, 4096)
	r.Store(mem, kit.Pattern(8192, 1))
	type edge struct{ va, length uint64 }
	var all []nicspec.WqeFields
	for i, k := range []edge{
		{0, 100}, {1, 100}, {0x1000, 100}, {^uint64(0) - 99, 100}, {^uint64(0) - 100, 100}, {1<<63 - 50, 100},
		{1<<32 - 50, 100},
		{0xffff_ffff_0000_0000, 100}, {5, 1 << 40},
	} {
		index := 30 + i
		r.Key(index, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 7, VaBase: k.va, Length: k.length,
			BusBase: mem + uint64(i)})
		add := func(at uint64, n uint32) {
			all = append(all,
				kit.SendEntry(nil, nicspec.SegFields{Key: 7<<24 | uint32(index), Addr: k.va + at, Len: n}))
		}
		add(0, 100)
		add(0, 99)
		add(1, 99)
		add(40, 60)
		add(0, 101)
		add(1, 100)
		add(40, 61)
		add(99, 60)
		add(100, 60)
		add(101, 60)
		add(^uint64(0), 100) // one byte below the key's range
		add(^uint64(0)-59, 60)
		add(1<<63, 60)
		add(1<<32, 60)
	}
	r.Transmit(x, all...)
}

// randomEntries posts random entries of every kind, on several queues at once.
func randomEntries(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(6, 9))
	x, w := r.TxSetup(2, 5)
	rings := []*kit.TxRing{x, r.OpenTx(9, 4), r.OpenTx(40%r.Sizes.NumTxq, 6)}
	r.BadKeys(w[0])
	flaws := Flaws(r)
	kinds := kit.EveryKind()
	for range 14 {
		var firsts []uint16
		var posts [][]kit.Posted
		for _, x := range rings {
			var all []nicspec.WqeFields
			for range 8 + rng.IntN(x.Size()-8) {
				all = append(all, randomEntry(r, rng, w, kinds, flaws))
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

func randomEntry(r *kit.Rig, rng *rand.Rand, w []*kit.Window, kinds []kit.Packet, flaws []Flaw) nicspec.WqeFields {
	p := kinds[rng.IntN(len(kinds))]
	p.Payload, p.Seed = rng.IntN(300), rng.Uint64()
	f := p.Build()
	inline := rng.IntN(17) * rng.IntN(2)
	e := r.Cut(w, f, min(inline, len(f)-2), 1+rng.IntN(2), rng)
	e.L3Off, e.L4Off = uint8(p.L3Off()), uint8(p.L3Off()+p.L3Len())
	e.FPad = len(f) < nicspec.FrameMin || rng.IntN(4) == 0
	e.FComplete = rng.IntN(3) > 0
	switch rng.IntN(4) {
	case 0:
		e.FIpCsum, e.FUdpCsum, e.FIcrc = rng.IntN(2) > 0, rng.IntN(2) > 0, rng.IntN(2) > 0
		e.FUdpZero = !e.FUdpCsum && rng.IntN(2) > 0
	case 1:
		e.FIpCsum, e.FUdpZero = true, rng.IntN(2) > 0
	}
	switch rng.IntN(12) {
	case 0:
		e.L3Off = uint8(rng.Uint32())
	case 1:
		e.L4Off = uint8(rng.Uint32())
	case 2:
		e.Opcode = nicspec.Opcode(rng.IntN(6))
	case 3:
		if kit.InlineSlots(&e) == 0 && e.Nseg >= 1 {
			if k := rng.IntN(len(flaws)); k < 12 {
				flaws[k].Mod(&e)
			}
		}
	case 4:
		e.Slots[rng.IntN(len(e.Slots))] ^= 1 << rng.IntN(8) // flip a bit of a key, length, address or data
	}
	return e
}

// keysRewritten rewrites a key while entries that use it are in flight. Entries posted after a read has shown that the
// command is done must see the new value.
func keysRewritten(r *kit.Rig) {
	x, w := r.TxSetup(6, 5)
	other := r.Alloc(nicspec.EndpointArm, w[0].Length, 4096)
	r.Store(other, kit.Pattern(w[0].Length, 99))
	old := r.Keys[1]
	for i := range 16 {
		var all []nicspec.WqeFields
		for k := range 12 {
			all = append(all, kit.SendEntry(nil, r.Piece(w[0], k, 64, kit.Pattern(200+k, uint64(i*20+k)))))
		}
		first := x.PI
		n := len(r.Enqueue(x, all...))
		r.RingDoorbell(&x.Ring)
		r.Run(i * 17)
		k := old
		switch i % 4 {
		case 0:
			k.BusBase = other
		case 1:
			k.Valid = 0
		case 2:
			k.RightRead = false
		}
		r.Key(1, k)
		for range n { // the referee accepts the key's old or new value for each entry
			r.TxCqe(x)
		}
		r.Out = nil
		all = nil
		for k := range 4 {
			all = append(all, kit.SendEntry(nil, nicspec.SegFields{Key: w[0].ID, Addr: w[0].Va + uint64(k), Len: 100}))
		}
		require.Equal(r.T, first+uint16(n), x.PI)
		r.Transmit(x, all...)
		r.Key(1, old)
	}
}

func laterEntries(r *kit.Rig) {
	x, w := r.TxSetup(2, 4)
	var all []nicspec.WqeFields
	for op := 2; op < 256; op += 1 + op/8 {
		e := r.Sound(w[0], uint64(op))
		e.Opcode = nicspec.Opcode(op)
		e.FComplete = op%2 > 0
		all = append(all, e)
	}
	e := r.Sound(w[0], 5)
	e.CrcOff, e.CrcStart = 0xffff, 0x1234 // ignored without f_crc32c
	all = append(all, e)
	e.FCrc32c = true
	all = append(all, e)
	r.Transmit(x, all...)
}
