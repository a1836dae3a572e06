package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var pushChecks = []check{
	{"push/one after the other", "W1 W2 T10", stalled, pushedSingly},
	{"push/as many as the ring holds", "W1 W2 T1 T2", stalled, pushedMany},
	{"push/between doorbells", "W1 W2 T1 T2", stalled, pushedBetween},
	{"push/refused like doorbells", "W1 Q2", stalled, pushesRefused},
	{"push/while CTRL.tx_enable is 0", "W1 W2 T1", stalled, pushedEarly},
	{"push/statuses", "W1 T3", stalled, pushedFlaws},
	{"push/other accesses", "W3 G1 G3", stalled, pushShapes},
	{"push/disabled and enabled again", "W1 T11", stalled, pushedOff},
}

// wire is a work entry as the device gets it.
func (r *rig) wire(w *nicspec.WqeFields) []byte {
	e := one(*w)
	return r.wireLong(&e)
}

// wireLong is an entry as the device gets it, all blocks that it names.
func (r *rig) wireLong(w *longEntry) []byte {
	e := w.WqeFields
	if !isCopy(w.Opcode) {
		e.Port = uint8(r.portOf(int(w.Port)))
	}
	return append(encode(&e, nicspec.WqeBytes), w.slots()[len(w.Slots):]...)
}

// push writes bytes to TX_PUSH of a queue.
func (r *rig) push(q int, b []byte) {
	r.t.Helper()
	h := memory(tlp.MWr, nicspec.RegTxPush(q))
	h.Length, h.LastBE = nicspec.WqeBytes/4, 0xf
	r.send(h, b)
}

// pushed writes work entries to their slots, pushes them, and says what must become of them.
func (r *rig) pushed(x *txRing, entries ...nicspec.WqeFields) []posted {
	r.t.Helper()
	var all []posted
	for i := range entries {
		all = append(all, r.enqueue(x, entries[i])...)
		r.push(x.Number, r.wire(&all[i].WqeFields))
	}
	return all
}

// slots counts the reads of each byte of a ring.
func (r *rig) slots(x *txRing, count map[uint64]int) {
	r.watch = func(c boundary.Crossing) {
		h := tlp.Parse(&c.TLP.Hdr)
		if c.Kind != boundary.TLPOut || h.Kind != tlp.MRd || !x.Contains(h.Address) {
			return
		}
		off, n := h.Span()
		for i := range n {
			count[h.Address+uint64(off)+uint64(i)]++
		}
	}
}

func pushedSingly(r *rig) {
	x, w := r.txSetup(3, 3)
	reads := map[uint64]int{}
	for i := range 20 {
		if i%x.Size() == 0 {
			clear(reads)
			r.slots(x, reads)
		}
		first := x.PI
		r.ended(x, first, r.pushed(x, r.sound(w[i%2], uint64(i))))
		for at, n := range reads {
			require.Equal(r.t, 1, n, "reads of the slot at %#x", at)
		}
	}
	r.watch = nil
	r.quiet()
	e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 3))
	require.Equal(r.t, [3]uint16{20, 20, 20}, [3]uint16{e.Pi, e.Ci, e.Cqi})
	r.noFrames()
}

func pushedMany(r *rig) {
	x, w := r.txSetup(3, 4)
	y := r.openTx(r.sizes.NumTxq-1, 3)
	rng := rand.New(rand.NewPCG(61, 9))
	for i := range 6 {
		firstX, firstY := x.PI, y.PI
		var a, b []posted
		for k := range x.Size() {
			e := r.cut(w, pattern(60+rng.IntN(600), rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
			e.FComplete = k == x.Size()-1 || rng.IntN(2) > 0
			a = append(a, r.pushed(x, e)...)
			if k%2 == 0 {
				b = append(b, r.pushed(y, r.sound(w[k/2%2], uint64(100*i+k)))...)
			}
		}
		r.ended(x, firstX, a)
		r.ended(y, firstY, b)
	}
	r.quiet()
	r.noFrames()
}

// pushedBetween mixes pushes with doorbells: some of the slots are read, some may be.
func pushedBetween(r *rig) {
	x, w := r.txSetup(5, 5)
	rng := rand.New(rand.NewPCG(62, 9))
	for range 12 {
		reads := map[uint64]int{}
		r.slots(x, reads)
		first, n := x.PI, 0
		var all []posted
		for n < x.Size()-6 {
			if rng.IntN(2) > 0 {
				all = append(all, r.pushed(x, r.sound(w[n%2], rng.Uint64()))...)
				n++
				continue
			}
			for range 1 + rng.IntN(5) {
				all = append(all, r.enqueue(x, r.sound(w[n%2], rng.Uint64()))...)
				n++
			}
			r.tell(&x.ring)
			r.run(rng.IntN(60))
		}
		r.ended(x, first, all)
		for at, n := range reads {
			require.Equal(r.t, 1, n, "reads of the slot at %#x", at)
		}
	}
	r.watch = nil
	r.quiet()
	r.noFrames()
}

func pushesRefused(r *rig) {
	_, w := r.txSetup(1, 2)
	bad := steps{dev(nicspec.CntDbBad): 1}
	e := r.sound(w[0], 1)
	refuse := func(what string, q int) {
		r.t.Helper()
		r.counted(what, bad, func() { r.push(q, r.wire(&e)) })
	}
	refuse("a queue that was never enabled", 5)
	if r.sizes.NumTxq < nicspec.TxqMax {
		refuse("the first queue beyond the build", r.sizes.NumTxq)
		refuse("the last queue there could be", nicspec.TxqMax-1)
	}
	r.write(nicspec.RegCtrl, 1)
	r.synced()
	x := r.openTx(5, 2)
	all := r.pushed(x, r.sound(w[0], 1), r.sound(w[0], 2), r.sound(w[1], 3), r.sound(w[1], 4))
	refuse("one more than the ring holds", 5)
	require.EqualValues(r.t, 4, le16(r.entry(nicspec.TableTxq, 5)[48:]))
	r.write(nicspec.RegCtrl, 3)
	r.ended(x, 0, all)
	r.disable(nicspec.TableTxq, 5)
	refuse("a queue that was disabled", 5)
	// In state Error.
	x = r.openTx(5, 2)
	r.failOnce(failures[0].kind, x.Base, 4*nicspec.WqeBytes)
	r.enqueue(x, e)
	r.tell(&x.ring)
	r.event(&x.ring, failures[0].want, 0)
	r.b.Faults.Clear()
	refuse("a queue in state Error", 5)
	r.disable(nicspec.TableTxq, 5)
	r.quiet()
	r.noFrames()
}

// pushedEarly pushes while nothing is to be sent.
func pushedEarly(r *rig) {
	x, w := r.txSetup(5, 3)
	for i := range 3 {
		r.write(nicspec.RegCtrl, 1)
		r.synced()
		first := x.PI
		all := r.pushed(x, r.sound(w[0], 1), r.sound(w[1], uint64(i)))
		all = append(all, r.enqueue(x, r.sound(w[1], 7))...)
		r.tell(&x.ring)
		all = append(all, r.pushed(x, r.sound(w[0], 5))...)
		r.run(600)
		r.nothing(&x.ring)
		r.noFrames()
		r.write(nicspec.RegCtrl, 3)
		r.ended(x, first, all)
	}
}

func pushedFlaws(r *rig) {
	x, w := r.txSetup(2, 4)
	r.badKeys(w[0])
	flaws := r.flaws()
	for i := 0; i < len(flaws); i += 3 {
		e := r.sound(w[0], uint64(i))
		flaws[i].mod(&e)
		nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: i%2 > 0}
		first := x.PI
		r.ended(x, first, r.pushed(x, e, nop, r.sound(w[1], uint64(i))))
	}
	r.quiet()
	r.noFrames()
}

// pushShapes has every other access to the range: those of one or two DWs meet no register, the others are bad.
func pushShapes(r *rig) {
	x, w := r.txSetup(4, 3)
	e := r.sound(w[0], 1)
	long := one(e)
	r.storeEntry(x, 0, &long)
	data := r.wire(&e)
	r.counted("small accesses", nil, func() {
		for _, off := range []uint32{0, 4, 8, 56, 60} {
			r.write(nicspec.RegTxPush(4)+off, 0xffff_ffff)
			require.Zero(r.t, r.read(nicspec.RegTxPush(4)+off))
		}
		r.write2(nicspec.RegTxPush(4), 1, 2)
		require.Zero(r.t, r.read2(nicspec.RegTxPush(4)+8))
	})
	var bad []tlp.Header
	for _, c := range []struct {
		off         uint32
		n           uint16
		first, last uint8
	}{{0, 15, 0xf, 0xf}, {0, 17, 0xf, 0xf}, {0, 32, 0xf, 0xf}, {4, 16, 0xf, 0xf}, {32, 16, 0xf, 0xf}, {0, 16, 0xe, 0xf}, {0, 16, 0xf, 7}, {0, 3, 0xf, 0xf}, {0, 1, 7, 0}} {
		h := memory(tlp.MWr, nicspec.RegTxPush(4)+c.off)
		h.Length, h.FirstBE, h.LastBE = c.n, c.first, c.last
		bad = append(bad, h)
	}
	r.counted("writes of other shapes", steps{dev(nicspec.CntRegBad): uint64(len(bad))}, func() {
		for _, h := range bad {
			r.send(h, append(append([]byte(nil), data...), data...)[:4*int(h.Length)])
		}
	})
	h := memory(tlp.MRd, nicspec.RegTxPush(4))
	h.Length, h.LastBE = 16, 0xf
	r.counted("a read of an entry", steps{dev(nicspec.CntRegBad): 1}, func() { r.refused(h) })
	require.Zero(r.t, le16(r.entry(nicspec.TableTxq, 4)[48:]), "nothing was posted")
	r.noFrames()
	r.ended(x, 0, r.pushed(x, e))
}

// pushedOff disables a queue after pushes: what is not started may be forgotten, and nothing of it comes later.
func pushedOff(r *rig) {
	_, w := r.txSetup(4, 3)
	for i := range 8 {
		x := r.openTx(6, 3)
		for k := range 8 {
			r.pushed(x, r.sound(w[k%2], uint64(k)))
		}
		r.run(i * 40)
		r.disable(nicspec.TableTxq, 6)
		r.quiet()
		for r.next(&x.ring) != nil {
			r.left(6)
		}
		r.noFrames()
		y := r.openTx(6, 2)
		r.ended(y, 0, r.pushed(y, r.sound(w[0], uint64(i))))
		r.disable(nicspec.TableTxq, 6)
	}
}
