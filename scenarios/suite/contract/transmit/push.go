package transmit

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// PushChecks push blocks to queues [W].
var PushChecks = []kit.Check{
	{Name: "push/one after the other", Rules: "W1 W2 T10", Stalls: kit.Stalled, Run: pushedSingly},
	{Name: "push/as many as the ring holds", Rules: "W1 W2 T1 T2", Stalls: kit.Stalled, Run: pushedMany},
	{Name: "push/between doorbells", Rules: "W1 W2 T1 T2", Stalls: kit.Stalled, Run: pushedBetween},
	{Name: "push/refused like doorbells", Rules: "W1 Q2", Stalls: kit.Stalled, Run: pushesRefused},
	{Name: "push/while CTRL.tx_enable is 0", Rules: "W1 W2 T1", Stalls: kit.Stalled, Run: pushedEarly},
	{Name: "push/statuses", Rules: "W1 T3", Stalls: kit.Stalled, Run: pushedFlaws},
	{Name: "push/other accesses", Rules: "W3 G1 G3", Stalls: kit.Stalled, Run: pushShapes},
	{Name: "push/disabled and enabled again", Rules: "W1 T11", Stalls: kit.Stalled, Run: pushedOff},
}

// wire encodes a work entry as the device reads it.
func wire(r *kit.Rig, w *nicspec.WqeFields) []byte {
	e := kit.One(*w)
	return r.WireLong(&e)
}

// Push writes bytes to TX_PUSH of a queue.
func Push(r *kit.Rig, q int, b []byte) {
	r.T.Helper()
	h := kit.Memory(tlp.MWr, nicspec.RegTxPush(q))
	h.Length, h.LastBE = nicspec.WqeBytes/4, 0xf
	r.Send(h, b)
}

// pushed writes work entries to their slots, pushes them, and returns their expected results.
func pushed(r *kit.Rig, x *kit.TxRing, entries ...nicspec.WqeFields) []kit.Posted {
	r.T.Helper()
	var all []kit.Posted
	for i := range entries {
		all = append(all, r.Enqueue(x, entries[i])...)
		Push(r, x.Number, wire(r, &all[i].WqeFields))
	}
	return all
}

// slots counts the reads of each byte of a ring.
func slots(r *kit.Rig, x *kit.TxRing, count map[uint64]int) {
	r.Watch = func(c boundary.Crossing) {
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

func pushedSingly(r *kit.Rig) {
	x, w := r.TxSetup(3, 3)
	reads := map[uint64]int{}
	for i := range 20 {
		if i%x.Size() == 0 {
			clear(reads)
			slots(r, x, reads)
		}
		first := x.PI
		r.Ended(x, first, pushed(r, x, r.Sound(w[i%2], uint64(i))))
		for at, n := range reads {
			require.Equal(r.T, 1, n, "reads of the slot at %#x", at)
		}
	}
	r.Watch = nil
	r.Quiet()
	e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 3))
	require.Equal(r.T, [3]uint16{20, 20, 20}, [3]uint16{e.Pi, e.Ci, e.Cqi})
	r.NoFrames()
}

func pushedMany(r *kit.Rig) {
	x, w := r.TxSetup(3, 4)
	y := r.OpenTx(r.Sizes.NumTxq-1, 3)
	rng := rand.New(rand.NewPCG(61, 9))
	for i := range 6 {
		firstX, firstY := x.PI, y.PI
		var a, b []kit.Posted
		for k := range x.Size() {
			e := r.Cut(w, kit.Pattern(60+rng.IntN(600), rng.Uint64()), rng.IntN(17), 1+rng.IntN(2), rng)
			e.FComplete = k == x.Size()-1 || rng.IntN(2) > 0
			a = append(a, pushed(r, x, e)...)
			if k%2 == 0 {
				b = append(b, pushed(r, y, r.Sound(w[k/2%2], uint64(100*i+k)))...)
			}
		}
		r.Ended(x, firstX, a)
		r.Ended(y, firstY, b)
	}
	r.Quiet()
	r.NoFrames()
}

// pushedBetween mixes pushes with doorbells. The device must read the ring slots of entries that were not pushed, and
// may read the others.
func pushedBetween(r *kit.Rig) {
	x, w := r.TxSetup(5, 5)
	rng := rand.New(rand.NewPCG(62, 9))
	for range 12 {
		reads := map[uint64]int{}
		slots(r, x, reads)
		first, n := x.PI, 0
		var all []kit.Posted
		for n < x.Size()-6 {
			if rng.IntN(2) > 0 {
				all = append(all, pushed(r, x, r.Sound(w[n%2], rng.Uint64()))...)
				n++
				continue
			}
			for range 1 + rng.IntN(5) {
				all = append(all, r.Enqueue(x, r.Sound(w[n%2], rng.Uint64()))...)
				n++
			}
			r.RingDoorbell(&x.Ring)
			r.Run(rng.IntN(60))
		}
		r.Ended(x, first, all)
		for at, n := range reads {
			require.Equal(r.T, 1, n, "reads of the slot at %#x", at)
		}
	}
	r.Watch = nil
	r.Quiet()
	r.NoFrames()
}

func pushesRefused(r *kit.Rig) {
	_, w := r.TxSetup(1, 2)
	bad := kit.Steps{kit.DevCounter(nicspec.CntDbBad): 1}
	e := r.Sound(w[0], 1)
	refuse := func(what string, q int) {
		r.T.Helper()
		r.Counted(what, bad, func() { Push(r, q, wire(r, &e)) })
	}
	refuse("a queue that was never enabled", 5)
	if r.Sizes.NumTxq < nicspec.TxqMax {
		refuse("the first queue beyond the build", r.Sizes.NumTxq)
		refuse("the last queue there could be", nicspec.TxqMax-1)
	}
	r.Write(nicspec.RegCtrl, 1)
	r.Synced()
	x := r.OpenTx(5, 2)
	all := pushed(r, x, r.Sound(w[0], 1), r.Sound(w[0], 2), r.Sound(w[1], 3), r.Sound(w[1], 4))
	refuse("one more than the ring holds", 5)
	require.EqualValues(r.T, 4, kit.LE16(r.Entry(nicspec.TableTxq, 5)[48:]))
	r.Write(nicspec.RegCtrl, 3)
	r.Ended(x, 0, all)
	r.Disable(nicspec.TableTxq, 5)
	refuse("a queue that was disabled", 5)
	// A push to a queue in state Error.
	x = r.OpenTx(5, 2)
	r.FailOnce(kit.Failures[0].Kind, x.Base, 4*nicspec.WqeBytes)
	r.Enqueue(x, e)
	r.RingDoorbell(&x.Ring)
	r.Event(&x.Ring, kit.Failures[0].Want, 0)
	r.Bed.Faults.Clear()
	refuse("a queue in state Error", 5)
	r.Disable(nicspec.TableTxq, 5)
	r.Quiet()
	r.NoFrames()
}

// pushedEarly pushes while tx_enable is 0.
func pushedEarly(r *kit.Rig) {
	x, w := r.TxSetup(5, 3)
	for i := range 3 {
		r.Write(nicspec.RegCtrl, 1)
		r.Synced()
		first := x.PI
		all := pushed(r, x, r.Sound(w[0], 1), r.Sound(w[1], uint64(i)))
		all = append(all, r.Enqueue(x, r.Sound(w[1], 7))...)
		r.RingDoorbell(&x.Ring)
		all = append(all, pushed(r, x, r.Sound(w[0], 5))...)
		r.Run(600)
		r.Nothing(&x.Ring)
		r.NoFrames()
		r.Write(nicspec.RegCtrl, 3)
		r.Ended(x, first, all)
	}
}

func pushedFlaws(r *kit.Rig) {
	x, w := r.TxSetup(2, 4)
	r.BadKeys(w[0])
	flaws := Flaws(r)
	for i := 0; i < len(flaws); i += 3 {
		e := r.Sound(w[0], uint64(i))
		flaws[i].Mod(&e)
		nop := nicspec.WqeFields{Opcode: nicspec.OpcodeNop, FComplete: i%2 > 0}
		first := x.PI
		r.Ended(x, first, pushed(r, x, e, nop, r.Sound(w[1], uint64(i))))
	}
	r.Quiet()
	r.NoFrames()
}

// pushShapes tries every other access to the address range of TX_PUSH. Accesses of one or two DWs reach no register;
// all others are bad pushes.
func pushShapes(r *kit.Rig) {
	x, w := r.TxSetup(4, 3)
	e := r.Sound(w[0], 1)
	long := kit.One(e)
	r.StoreEntry(x, 0, &long)
	data := wire(r, &e)
	r.Counted("small accesses", nil, func() {
		for _, off := range []uint32{0, 4, 8, 56, 60} {
			r.Write(nicspec.RegTxPush(4)+off, 0xffff_ffff)
			require.Zero(r.T, r.Read(nicspec.RegTxPush(4)+off))
		}
		r.Write2(nicspec.RegTxPush(4), 1, 2)
		require.Zero(r.T, r.Read2(nicspec.RegTxPush(4)+8))
	})
	var bad []tlp.Header
	for _, c := range []struct {
		off         uint32
		n           uint16
		first, last uint8
	}{{0, 15, 0xf, 0xf}, {0, 17, 0xf, 0xf}, {0, 32, 0xf, 0xf}, {4, 16, 0xf, 0xf}, {32, 16, 0xf, 0xf}, {0, 16, 0xe, 0xf},
		{0, 16, 0xf, 7}, {0, 3, 0xf, 0xf}, {0, 1, 7, 0}} {
		h := kit.Memory(tlp.MWr, nicspec.RegTxPush(4)+c.off)
		h.Length, h.FirstBE, h.LastBE = c.n, c.first, c.last
		bad = append(bad, h)
	}
	r.Counted("writes of other shapes", kit.Steps{kit.DevCounter(nicspec.CntRegBad): uint64(len(bad))}, func() {
		for _, h := range bad {
			r.Send(h, append(append([]byte(nil), data...), data...)[:4*int(h.Length)])
		}
	})
	h := kit.Memory(tlp.MRd, nicspec.RegTxPush(4))
	h.Length, h.LastBE = 16, 0xf
	r.Counted("a read of an entry", kit.Steps{kit.DevCounter(nicspec.CntRegBad): 1}, func() { r.Refused(h) })
	require.Zero(r.T, kit.LE16(r.Entry(nicspec.TableTxq, 4)[48:]), "nothing was posted")
	r.NoFrames()
	r.Ended(x, 0, pushed(r, x, e))
}

// pushedOff disables a queue after pushes. Pushed entries that have not started may be discarded, but then must not
// start later.
func pushedOff(r *kit.Rig) {
	_, w := r.TxSetup(4, 3)
	for i := range 8 {
		x := r.OpenTx(6, 3)
		for k := range 8 {
			pushed(r, x, r.Sound(w[k%2], uint64(k)))
		}
		r.Run(i * 40)
		r.Disable(nicspec.TableTxq, 6)
		r.Quiet()
		for r.Next(&x.Ring) != nil {
			r.Left(6)
		}
		r.NoFrames()
		y := r.OpenTx(6, 2)
		r.Ended(y, 0, pushed(r, y, r.Sound(w[0], uint64(i))))
		r.Disable(nicspec.TableTxq, 6)
	}
}
