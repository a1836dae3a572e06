package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var pauseOffChecks = []check{
	{"pause/a queue is disabled in a stop of its class", "F4 T11 B8", calm, disabledInAStop},
}

// disabledInAStop disables a queue of a class that is stopped, with an entry posted as the stop comes, which may end, or long
// after, which is not fetched. Then nothing waits for the end of the stop, and nothing waits when it is over.
func disabledInAStop(r *rig) {
	const queue, class, quanta = 3, 5, 6000
	r.portCfg(nicspec.PortEntryFields{RxPfc: 1 << class})
	_, w := r.txSetup(9, 2)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
	for _, late := range []int{0, 2 * nicspec.VisibleCycles} {
		x := r.openTx(queue, 3)
		p := r.pauses()
		r.play(classPause(1<<class, quanta))
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(late)
		r.enqueue(x, r.sound(w[0], 1))
		r.tell(&x.ring)
		r.run(late)
		r.disable(nicspec.TableTxq, queue)
		if late > 0 {
			r.quiet()
			require.Less(r.t, r.b.NIC.Cycles(), p.ins[0]+quanta, "nothing waits for the end of the stop")
		}
		r.run(quanta * int(r.quantum()))
		r.quiet()
		r.frames = nil
	}
	r.noFrames()
}
