package pause

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// LongChecks stop queues whose entries have several blocks.
var LongChecks = []kit.Check{
	{Name: "pause/a class stops while an entry waits for its blocks", Rules: "F4 T14 B8 F8", Stalls: kit.Stalled,
		Run: longInAStop},
}

// longInAStop stops the class of a queue while an entry in it is incomplete. The other blocks come during the stop or
// after it. The entry must leave whole when all its blocks have come and the stop is over, and nothing of it before.
// A queue of another class must not be delayed.
func longInAStop(r *kit.Rig) {
	const class, other, quanta = 5, 3, 6000
	PortCfg(r, nicspec.PortEntryFields{RxPfc: 1 << class})
	_, w := r.TxSetup(9, 2)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
	x := r.OpenTx(1, 3)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = other }
	y := r.OpenTx(2, 3)
	rng := rand.New(rand.NewPCG(112, 9))
	for i := range 6 {
		blocks, first := 2+i%3, x.PI
		posts := r.EnqueueLong(x, transmit.AnyLong(r, w, blocks, rng), transmit.AnyLong(r, w, 1, rng))
		r.Doorbell(false, x.Number, uint32(first)+uint32(1+i%(blocks-1)))
		if i < 3 {
			r.Run(500) // until the blocks posted so far are fetched
		}
		p := Pauses(r)
		r.Play(ClassPause(1<<class, quanta))
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(2 * nicspec.VisibleCycles)
		r.TransmitLong(y, transmit.AnyLong(r, w, 4, rng), transmit.AnyLong(r, w, 1, rng))
		end := p.Ins[0] + quanta*Quantum(r)
		if i%2 == 0 {
			r.RingDoorbell(&x.Ring)
			r.Ended(x, first, posts)
			stopped(r, p, 1, p.Ins[0], quanta, 2*fetchCycles) // four blocks and eight pieces are read first
		} else {
			r.Run(int(quanta*Quantum(r)) + 2*nicspec.VisibleCycles) // the stop is over
			r.BusyFalls()                                           // an incomplete entry is not work in progress
			r.Nothing(&x.Ring)
			r.RingDoorbell(&x.Ring)
			r.Ended(x, first, posts)
		}
		for _, c := range p.Begins {
			require.False(r.T, c.Port == 1 && c.First <= end && c.First > p.Ins[0]+nicspec.VisibleCycles,
				"a frame of the stopped class")
		}
		r.Quiet()
		r.NoFrames()
	}
}
