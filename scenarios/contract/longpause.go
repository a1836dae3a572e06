package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var longPauseChecks = []check{
	{"pause/a class stops while an entry waits for its blocks", "F4 T14 B8 F8", stalled, longInAStop},
}

// longInAStop stops the class of a queue in which a part of an entry waits. The other blocks come in the stop, or only after
// it: the entry leaves whole when both are over, and nothing of it before. A queue of another class goes on.
func longInAStop(r *rig) {
	const class, other, quanta = 5, 3, 6000
	r.portCfg(nicspec.PortEntryFields{RxPfc: 1 << class})
	_, w := r.txSetup(9, 2)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
	x := r.openTx(1, 3)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = other }
	y := r.openTx(2, 3)
	rng := rand.New(rand.NewPCG(112, 9))
	for i := range 6 {
		blocks, first := 2+i%3, x.PI
		posts := r.enqueueLong(x, r.anyLong(w, blocks, rng), r.anyLong(w, 1, rng))
		r.doorbell(false, x.Number, uint32(first)+uint32(1+i%(blocks-1)))
		if i < 3 {
			r.run(500) // what was posted has been fetched when the stop comes
		}
		p := r.pauses()
		r.play(classPause(1<<class, quanta))
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(2 * nicspec.VisibleCycles)
		r.transmitLong(y, r.anyLong(w, 4, rng), r.anyLong(w, 1, rng))
		end := p.ins[0] + quanta*r.quantum()
		if i%2 == 0 {
			r.tell(&x.ring)
			r.ended(x, first, posts)
			r.stopped(p, 1, p.ins[0], quanta, 2*fetchCycles) // four blocks and eight pieces are to be read
		} else {
			r.run(int(quanta*r.quantum()) + 2*nicspec.VisibleCycles) // the stop is over
			r.busyFalls()                                            // what waits for blocks is not in progress
			r.nothing(&x.ring)
			r.tell(&x.ring)
			r.ended(x, first, posts)
		}
		for _, c := range p.begins {
			require.False(r.t, c.Port == 1 && c.First <= end && c.First > p.ins[0]+nicspec.VisibleCycles, "a frame of the class that is stopped")
		}
		r.quiet()
		r.noFrames()
	}
}
