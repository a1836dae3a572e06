package contract

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var txStatusChecks = []check{
	{"statuses/every check alone", "T3 T10 G5", stalled, everyStatus},
	{"statuses/order of the checks", "T3", calm, statusOrder},
	{"statuses/bounds of keys", "T3 T4", calm, keyBounds},
	{"statuses/entries at random", "T3 T4 T5 T7 T8 T10", stalled, randomEntries},
	{"statuses/keys are rewritten", "T12 T3", stalled, keysRewritten},
	{"statuses/later opcodes and offloads", "T3", calm, laterEntries},
}

// flaw spoils an entry: status is what it ends with when nothing else is wrong. Flaws stand in the order of the checks.
type flaw struct {
	name   string
	status nicspec.Status
	mod    func(*nicspec.WqeFields)
}

// seg changes piece i of an entry without inline bytes.
func seg(i int, mod func(*nicspec.SegFields)) func(*nicspec.WqeFields) {
	return func(w *nicspec.WqeFields) {
		at := w.Slots[i*nicspec.WqeSlotBytes:][:nicspec.SegSize]
		s := nicspec.DecodeSeg(at)
		mod(&s)
		s.Encode(at)
	}
}

// Keys that are wrong in some way, set up by badKeys.
const (
	keyInvalid   = 20
	keyWriteOnly = 21
	keyShort     = 22
	keyEmpty     = 23
)

// badKeys writes them; pieces of the window w keep their address.
func (r *rig) badKeys(w *window) {
	r.t.Helper()
	good := r.keys[int(w.id&0xffff)]
	mod := func(index int, f func(*nicspec.KeyEntryFields)) {
		k := good
		f(&k)
		r.key(index, k)
	}
	mod(keyInvalid, func(k *nicspec.KeyEntryFields) { k.Valid = 0 })
	mod(keyWriteOnly, func(k *nicspec.KeyEntryFields) { k.RightRead, k.RightWrite = false, true })
	mod(keyShort, func(k *nicspec.KeyEntryFields) { k.Length = 9 })
	mod(keyEmpty, func(k *nicspec.KeyEntryFields) { k.Length = 0 })
}

func index(i uint32) func(*nicspec.SegFields) {
	return func(s *nicspec.SegFields) { s.Key = s.Key&^0xffff | i }
}

// flaws of an entry that names three pieces of 100 B. Those of later pieces come after all of the earlier ones'.
func (r *rig) flaws() []flaw {
	type w = nicspec.WqeFields
	type s = nicspec.SegFields
	unknown := nicspec.OpcodeCopy
	if r.sizes.Has(nicspec.PartCopy) {
		unknown = nicspec.OpcodeCopyInvalidate + 1
	}
	all := []flaw{
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
		{"port beyond the build", nicspec.StatusBadFormat, func(e *w) { e.Port = uint8(r.sizes.Ports) }},
		{"port 255", nicspec.StatusBadFormat, func(e *w) { e.Port = 255 }},
	}
	for i := range 3 {
		all = append(all,
			flaw{fmt.Sprintf("piece %d of 0 B", i), nicspec.StatusBadFormat, seg(i, func(s *s) { s.Len = 0 })},
			flaw{fmt.Sprintf("key bit 16 of piece %d", i), nicspec.StatusBadFormat, seg(i, func(s *s) { s.Key |= 1 << 16 })},
			flaw{fmt.Sprintf("key bit 23 of piece %d", i), nicspec.StatusBadFormat, seg(i, func(s *s) { s.Key |= 1 << 23 })})
	}
	all = append(all,
		flaw{"one byte too long", nicspec.StatusBadLength, seg(1, func(s *s) { s.Len = nicspec.FrameMax - 199 })},
		flaw{"far too long", nicspec.StatusBadLength, seg(1, func(s *s) { s.Len = 0xffff_ffff })},
		flaw{"too long beyond 32 bits", nicspec.StatusBadLength, func(e *w) {
			for i := range 3 {
				seg(i, func(s *nicspec.SegFields) { s.Len = 0x5555_5559 })(e) // 2^32 + 11
			}
		}},
		flaw{"too long by 14 bits", nicspec.StatusBadLength, seg(2, func(s *s) { s.Len = 1<<14 + 100 })},
		flaw{"too short", nicspec.StatusBadLength, func(e *w) { e.Nseg = 1; seg(0, func(s *nicspec.SegFields) { s.Len = 59 })(e) }})
	for i := range 3 {
		all = append(all,
			flaw{fmt.Sprintf("key beyond the build, piece %d", i), nicspec.StatusBadKey, seg(i, index(uint32(r.sizes.NumKeys)))},
			flaw{fmt.Sprintf("key 65535, piece %d", i), nicspec.StatusBadKey, seg(i, index(0xffff))},
			flaw{fmt.Sprintf("key beyond by a bit, piece %d", i), nicspec.StatusBadKey, seg(i, func(s *s) { s.Key |= 0x8000 })},
			flaw{fmt.Sprintf("key never written, piece %d", i), nicspec.StatusBadKey, seg(i, index(77))},
			flaw{fmt.Sprintf("key not valid, piece %d", i), nicspec.StatusBadKey, seg(i, index(keyInvalid))},
			flaw{fmt.Sprintf("variant, piece %d", i), nicspec.StatusBadKey, seg(i, func(s *s) { s.Key ^= 1 << 31 })},
			flaw{fmt.Sprintf("rights, piece %d", i), nicspec.StatusKeyRights, seg(i, index(keyWriteOnly))},
			flaw{fmt.Sprintf("bounds, piece %d", i), nicspec.StatusKeyBounds, seg(i, index(keyShort))},
			flaw{fmt.Sprintf("empty key, piece %d", i), nicspec.StatusKeyBounds, seg(i, index(keyEmpty))},
			flaw{fmt.Sprintf("below the key, piece %d", i), nicspec.StatusKeyBounds, seg(i, func(s *s) { s.Addr = 0 })})
	}
	return append(all,
		flaw{"f_crc32c", nicspec.StatusBadOffload, func(e *w) { e.FCrc32c = true }},
		flaw{"f_ip_csum without IPv4", nicspec.StatusBadOffload, func(e *w) { e.FIpCsum = true }})
}

// sound is an entry without a flaw.
func (r *rig) sound(w *window, seed uint64) nicspec.WqeFields {
	r.t.Helper()
	var p [3]nicspec.SegFields
	for i := range p {
		b := pattern(100, seed+uint64(i))
		b[14] = 0 // no IPv4 header at 0, where l3_off points
		b[0] = 0
		p[i] = r.piece(w, i, 64, b)
	}
	return sendEntry(nil, p[:]...)
}

// flawed is an entry with a flaw, of which the check itself knows. It has a completion entry, complete or not.
func (r *rig) flawed(f *flaw, e nicspec.WqeFields, complete bool) nicspec.WqeFields {
	r.t.Helper()
	f.mod(&e)
	long := one(e)
	_, status := expected(&long, 0, r.keys, &r.sizes, r.load)
	require.Equal(r.t, f.status, status, "the check itself: %s", f.name)
	e.FComplete = complete
	return e
}

func everyStatus(r *rig) {
	x, w := r.txSetup(2, 4)
	r.badKeys(w[0])
	var all []nicspec.WqeFields
	flaws := r.flaws()
	for i, f := range flaws {
		all = append(all, r.flawed(&f, r.sound(w[0], uint64(i)), i%2 == 0))
		if i%4 == 0 {
			all = append(all, r.sound(w[0], uint64(i)))
		}
	}
	good := len(all) - len(flaws)
	r.counted("entries that fail", steps{
		dev(nicspec.CntTxWqe): uint64(len(all)), dev(nicspec.CntTxErr): uint64(len(flaws)), dev(nicspec.CntTxCqe): uint64(len(all)),
		port(nicspec.CntTxFrames): uint64(good), port(nicspec.CntTxBytes): uint64(300 * good),
	}, func() { r.transmit(x, all...) })
	r.noFrames()
	e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
	require.Equal(r.t, nicspec.QueueStateRun, e.State, "a failed entry does not stop its queue")
}

// statusOrder has entries with two flaws: the check that comes first gives the status.
func statusOrder(r *rig) {
	x, w := r.txSetup(2, 6)
	r.badKeys(w[0])
	flaws := r.flaws()
	var all []nicspec.WqeFields
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 1 + (i+j)%3 {
			e := r.sound(w[0], uint64(i*j))
			flaws[j].mod(&e)
			flaws[i].mod(&e) // what it ends with is worked out afresh: one may have undone the other
			all = append(all, e)
		}
	}
	r.transmit(x, all...)
}

// keyBounds has pieces at the edges of keys, and keys at the edges of the address space.
func keyBounds(r *rig) {
	x, _ := r.txSetup(4, 4)
	mem := r.alloc(nicspec.EndpointHost, 8192, 4096)
	r.store(mem, pattern(8192, 1))
	type edge struct{ va, length uint64 }
	var all []nicspec.WqeFields
	for i, k := range []edge{
		{0, 100}, {1, 100}, {0x1000, 100}, {^uint64(0) - 99, 100}, {^uint64(0) - 100, 100}, {1<<63 - 50, 100}, {1<<32 - 50, 100},
		{0xffff_ffff_0000_0000, 100}, {5, 1 << 40},
	} {
		index := 30 + i
		r.key(index, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Variant: 7, VaBase: k.va, Length: k.length, BusBase: mem + uint64(i)})
		add := func(at uint64, n uint32) {
			all = append(all, sendEntry(nil, nicspec.SegFields{Key: 7<<24 | uint32(index), Addr: k.va + at, Len: n}))
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
		add(^uint64(0), 100) // a byte below
		add(^uint64(0)-59, 60)
		add(1<<63, 60)
		add(1<<32, 60)
	}
	r.transmit(x, all...)
}

// randomEntries has entries of every kind at random, several queues at once.
func randomEntries(r *rig) {
	rng := rand.New(rand.NewPCG(6, 9))
	x, w := r.txSetup(2, 5)
	rings := []*txRing{x, r.openTx(9, 4), r.openTx(40%r.sizes.NumTxq, 6)}
	r.badKeys(w[0])
	flaws := r.flaws()
	kinds := odd()
	for range 14 {
		var firsts []uint16
		var posts [][]posted
		for _, x := range rings {
			var all []nicspec.WqeFields
			for range 8 + rng.IntN(x.Size()-8) {
				all = append(all, r.randomEntry(rng, w, kinds, flaws))
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

func (r *rig) randomEntry(rng *rand.Rand, w []*window, kinds []pkt, flaws []flaw) nicspec.WqeFields {
	p := kinds[rng.IntN(len(kinds))]
	p.payload, p.seed = rng.IntN(300), rng.Uint64()
	f := p.build()
	inline := rng.IntN(17) * rng.IntN(2)
	e := r.cut(w, f, min(inline, len(f)-2), 1+rng.IntN(2), rng)
	e.L3Off, e.L4Off = uint8(p.l3Off()), uint8(p.l3Off()+p.l3Len())
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
		if inlineSlots(&e) == 0 && e.Nseg >= 1 {
			if k := rng.IntN(len(flaws)); k < 12 {
				flaws[k].mod(&e)
			}
		}
	case 4:
		e.Slots[rng.IntN(len(e.Slots))] ^= 1 << rng.IntN(8) // key, length, address or data
	}
	return e
}

// keysRewritten rewrites a key while entries that use it are at work, and demands that entries posted after a read has shown
// the command done see the new value.
func keysRewritten(r *rig) {
	x, w := r.txSetup(6, 5)
	other := r.alloc(nicspec.EndpointArm, w[0].length, 4096)
	r.store(other, pattern(w[0].length, 99))
	old := r.keys[1]
	for i := range 16 {
		var all []nicspec.WqeFields
		for k := range 12 {
			all = append(all, sendEntry(nil, r.piece(w[0], k, 64, pattern(200+k, uint64(i*20+k)))))
		}
		first := x.PI
		n := len(r.enqueue(x, all...))
		r.tell(&x.ring)
		r.run(i * 17)
		k := old
		switch i % 4 {
		case 0:
			k.BusBase = other
		case 1:
			k.Valid = 0
		case 2:
			k.RightRead = false
		}
		r.key(1, k)
		for range n { // each under the old value or the new one, says the referee
			r.txCqe(x)
		}
		r.out = nil
		all = nil
		for k := range 4 {
			all = append(all, sendEntry(nil, nicspec.SegFields{Key: w[0].id, Addr: w[0].va + uint64(k), Len: 100}))
		}
		require.Equal(r.t, first+uint16(n), x.PI)
		r.transmit(x, all...)
		r.key(1, old)
	}
}

func laterEntries(r *rig) {
	x, w := r.txSetup(2, 4)
	var all []nicspec.WqeFields
	for op := 2; op < 256; op += 1 + op/8 {
		e := r.sound(w[0], uint64(op))
		e.Opcode = nicspec.Opcode(op)
		e.FComplete = op%2 > 0
		all = append(all, e)
	}
	e := r.sound(w[0], 5)
	e.CrcOff, e.CrcStart = 0xffff, 0x1234 // ignored without f_crc32c
	all = append(all, e)
	e.FCrc32c = true
	all = append(all, e)
	r.transmit(x, all...)
}
