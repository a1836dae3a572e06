package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var longPushChecks = []check{
	{"long entries/pushed", "W1 W2 T14", stalled, longPushed},
	{"long entries/pushed in part", "W1 W2 T2 T14", stalled, longPushedInPart},
	{"long entries/pushed at leisure", "W1 T14 B8", stalled, longPushedSlowly},
	{"long entries/pushed while CTRL.tx_enable is 0", "W1 W2 T1 T14", stalled, longPushedEarly},
	{"long entries/pushed to several queues", "W1 T14", stalled, longPushedTogether},
}

// pushBlock pushes block k of an entry.
func (r *rig) pushBlock(x *txRing, e *longEntry, k int) {
	r.t.Helper()
	r.push(x.Number, r.wireLong(e)[k*nicspec.WqeBytes:][:nicspec.WqeBytes])
}

// pushedLong writes entries to their places and pushes every block.
func (r *rig) pushedLong(x *txRing, entries ...longEntry) []posted {
	r.t.Helper()
	var all []posted
	for i := range entries {
		all = append(all, r.enqueueLong(x, entries[i])...)
		for k := range entries[i].blocks(&r.sizes) {
			r.pushBlock(x, &all[i].longEntry, k)
		}
	}
	return all
}

// onceRead demands that each block of a ring is read once at most; what it returns ends that.
func (r *rig) onceRead(x *txRing) (done func()) {
	r.t.Helper()
	reads := map[uint64]int{}
	r.slots(x, reads)
	return func() {
		r.t.Helper()
		r.watch = nil
		for at, n := range reads {
			require.Equal(r.t, 1, n, "reads of byte %#x of the ring", at)
		}
	}
}

func longPushed(r *rig) {
	x, w := r.txSetup(3, 3)
	rng := rand.New(rand.NewPCG(101, 9))
	for i := range 40 {
		first := x.PI
		done := r.onceRead(x)
		var all []posted
		for x.PI-first < 5 {
			all = append(all, r.pushedLong(x, r.anyLong(w, 1+rng.IntN(min(4, 8-int(x.PI-first))), rng))...)
			if i%2 == 0 {
				break
			}
		}
		r.ended(x, first, all)
		done()
	}
	r.quiet()
	r.noFrames()
}

// longPushedInPart pushes some blocks of each entry and rings for the others, in all orders.
func longPushedInPart(r *rig) {
	x, w := r.txSetup(3, 4)
	rng := rand.New(rand.NewPCG(102, 9))
	for how := range 32 {
		done := r.onceRead(x)
		first := x.PI
		var all []posted
		for range 3 {
			at := x.PI
			all = append(all, r.enqueueLong(x, r.anyLong(w, 4, rng))...)
			e := &all[len(all)-1].longEntry
			for k := range 4 {
				switch {
				case how>>k&1 != 0:
					r.pushBlock(x, e, k)
				case how < 16 || k == 3 || how>>(k+1)&1 != 0: // else the next doorbell tells of it, too
					r.doorbell(false, x.Number, uint32(at)+uint32(k)+1)
				}
				if rng.IntN(3) == 0 {
					r.run(rng.IntN(120))
				}
			}
		}
		r.ended(x, first, all)
		done()
	}
	r.quiet()
	r.noFrames()
}

// longPushedSlowly lets time pass between the blocks: the device has nothing to do meanwhile.
func longPushedSlowly(r *rig) {
	x, w := r.txSetup(3, 4)
	rng := rand.New(rand.NewPCG(103, 9))
	for i := range 9 {
		first := x.PI
		all := r.enqueueLong(x, r.anyLong(w, 2+i%3, rng))
		for k := range 1 + i%3 {
			r.pushBlock(x, &all[0].longEntry, k)
			r.run(300)
			r.quiet()
			r.busyFalls()
			r.nothing(&x.ring)
			r.noFrames()
		}
		r.pushBlock(x, &all[0].longEntry, 1+i%3)
		r.ended(x, first, all)
	}
}

func longPushedEarly(r *rig) {
	x, w := r.txSetup(5, 4)
	rng := rand.New(rand.NewPCG(104, 9))
	for i := range 4 {
		r.write(nicspec.RegCtrl, 1)
		r.synced()
		first := x.PI
		all := r.pushedLong(x, r.anyLong(w, 2, rng), r.anyLong(w, 4, rng))
		all = append(all, r.enqueueLong(x, r.anyLong(w, 3, rng))...)
		last := &all[2].longEntry
		for k := range i {
			r.pushBlock(x, last, k)
		}
		r.run(600)
		r.nothing(&x.ring)
		r.noFrames()
		r.write(nicspec.RegCtrl, 3)
		r.ended(x, first, all[:2])
		for k := i; k < 3; k++ {
			r.pushBlock(x, last, k)
		}
		r.ended(x, first+6, all[2:])
	}
}

// longPushedTogether has the blocks of several queues' entries come in turns.
func longPushedTogether(r *rig) {
	_, w := r.txSetup(0, 2)
	rng := rand.New(rand.NewPCG(105, 9))
	var rings []*txRing
	for q := range 3 {
		rings = append(rings, r.openTx((q*5+1)%r.sizes.NumTxq, 3))
	}
	for range 16 {
		var all [3][]posted
		for i, x := range rings {
			all[i] = r.enqueueLong(x, r.anyLong(w, 1+rng.IntN(4), rng))
		}
		for k := range nicspec.WqeBlocksMax {
			for i, x := range rings {
				if e := &all[i][0].longEntry; k < e.blocks(&r.sizes) {
					r.pushBlock(x, e, k)
				}
			}
		}
		for i, x := range rings {
			r.ended(x, x.PI-uint16(all[i][0].blocks(&r.sizes)), all[i])
		}
	}
	r.quiet()
	r.noFrames()
}
