package transmit

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// LongPushChecks push long entries.
var LongPushChecks = []kit.Check{
	{Name: "long entries/pushed", Rules: "W1 W2 T14", Stalls: kit.Stalled, Run: longPushed},
	{Name: "long entries/pushed in part", Rules: "W1 W2 T2 T14", Stalls: kit.Stalled, Run: longPushedInPart},
	{Name: "long entries/pushed at leisure", Rules: "W1 T14 B8", Stalls: kit.Stalled, Run: longPushedSlowly},
	{Name: "long entries/pushed while CTRL.tx_enable is 0", Rules: "W1 W2 T1 T14", Stalls: kit.Stalled,
		Run: longPushedEarly},
	{Name: "long entries/pushed to several queues", Rules: "W1 T14", Stalls: kit.Stalled, Run: longPushedTogether},
}

// PushBlock pushes block k of an entry.
func PushBlock(r *kit.Rig, x *kit.TxRing, e *kit.LongEntry, k int) {
	r.T.Helper()
	Push(r, x.Number, r.WireLong(e)[k*nicspec.WqeBytes:][:nicspec.WqeBytes])
}

// pushedLong writes entries to their ring slots and pushes every block.
func pushedLong(r *kit.Rig, x *kit.TxRing, entries ...kit.LongEntry) []kit.Posted {
	r.T.Helper()
	var all []kit.Posted
	for i := range entries {
		all = append(all, r.EnqueueLong(x, entries[i])...)
		for k := range entries[i].BlocksOf(&r.Sizes) {
			PushBlock(r, x, &all[i].LongEntry, k)
		}
	}
	return all
}

// onceRead checks, until done is called, that each block of a ring is read at most once.
func onceRead(r *kit.Rig, x *kit.TxRing) (done func()) {
	r.T.Helper()
	reads := map[uint64]int{}
	slots(r, x, reads)
	return func() {
		r.T.Helper()
		r.Watch = nil
		for at, n := range reads {
			require.Equal(r.T, 1, n, "reads of byte %#x of the ring", at)
		}
	}
}

func longPushed(r *kit.Rig) {
	x, w := r.TxSetup(3, 3)
	rng := rand.New(rand.NewPCG(101, 9))
	for i := range 40 {
		first := x.PI
		done := onceRead(r, x)
		var all []kit.Posted
		for x.PI-first < 5 {
			all = append(all, pushedLong(r, x, AnyLong(r, w, 1+rng.IntN(min(4, 8-int(x.PI-first))), rng))...)
			if i%2 == 0 {
				break
			}
		}
		r.Ended(x, first, all)
		done()
	}
	r.Quiet()
	r.NoFrames()
}

// longPushedInPart pushes some blocks of each entry and rings the doorbell for the others, in all orders.
func longPushedInPart(r *kit.Rig) {
	x, w := r.TxSetup(3, 4)
	rng := rand.New(rand.NewPCG(102, 9))
	for how := range 32 {
		done := onceRead(r, x)
		first := x.PI
		var all []kit.Posted
		for range 3 {
			at := x.PI
			all = append(all, r.EnqueueLong(x, AnyLong(r, w, 4, rng))...)
			e := &all[len(all)-1].LongEntry
			for k := range 4 {
				switch {
				case how>>k&1 != 0:
					PushBlock(r, x, e, k)
				case how < 16 || k == 3 || how>>(k+1)&1 != 0: // otherwise the next doorbell covers this block, too
					r.Doorbell(false, x.Number, uint32(at)+uint32(k)+1)
				}
				if rng.IntN(3) == 0 {
					r.Run(rng.IntN(120))
				}
			}
		}
		r.Ended(x, first, all)
		done()
	}
	r.Quiet()
	r.NoFrames()
}

// longPushedSlowly waits between the blocks of an entry: the device must be idle meanwhile.
func longPushedSlowly(r *kit.Rig) {
	x, w := r.TxSetup(3, 4)
	rng := rand.New(rand.NewPCG(103, 9))
	for i := range 9 {
		first := x.PI
		all := r.EnqueueLong(x, AnyLong(r, w, 2+i%3, rng))
		for k := range 1 + i%3 {
			PushBlock(r, x, &all[0].LongEntry, k)
			r.Run(300)
			r.Quiet()
			r.BusyFalls()
			r.Nothing(&x.Ring)
			r.NoFrames()
		}
		PushBlock(r, x, &all[0].LongEntry, 1+i%3)
		r.Ended(x, first, all)
	}
}

func longPushedEarly(r *kit.Rig) {
	x, w := r.TxSetup(5, 4)
	rng := rand.New(rand.NewPCG(104, 9))
	for i := range 4 {
		r.Write(nicspec.RegCtrl, 1)
		r.Synced()
		first := x.PI
		all := pushedLong(r, x, AnyLong(r, w, 2, rng), AnyLong(r, w, 4, rng))
		all = append(all, r.EnqueueLong(x, AnyLong(r, w, 3, rng))...)
		last := &all[2].LongEntry
		for k := range i {
			PushBlock(r, x, last, k)
		}
		r.Run(600)
		r.Nothing(&x.Ring)
		r.NoFrames()
		r.Write(nicspec.RegCtrl, 3)
		r.Ended(x, first, all[:2])
		for k := i; k < 3; k++ {
			PushBlock(r, x, last, k)
		}
		r.Ended(x, first+6, all[2:])
	}
}

// longPushedTogether pushes the blocks of several queues' entries in turn.
func longPushedTogether(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	rng := rand.New(rand.NewPCG(105, 9))
	var rings []*kit.TxRing
	for q := range 3 {
		rings = append(rings, r.OpenTx((q*5+1)%r.Sizes.NumTxq, 3))
	}
	for range 16 {
		var all [3][]kit.Posted
		for i, x := range rings {
			all[i] = r.EnqueueLong(x, AnyLong(r, w, 1+rng.IntN(4), rng))
		}
		for k := range nicspec.WqeBlocksMax {
			for i, x := range rings {
				if e := &all[i][0].LongEntry; k < e.BlocksOf(&r.Sizes) {
					PushBlock(r, x, e, k)
				}
			}
		}
		for i, x := range rings {
			r.Ended(x, x.PI-uint16(all[i][0].BlocksOf(&r.Sizes)), all[i])
		}
	}
	r.Quiet()
	r.NoFrames()
}
