package pause

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// DisableChecks disable queues while they are stopped.
var DisableChecks = []kit.Check{
	{Name: "pause/a queue is disabled in a stop of its class", Rules: "F4 T11 B8", Stalls: kit.Calm,
		Run: disabledInAStop},
}

// disabledInAStop disables a queue of a stopped class. If its entry is posted just before the stop takes effect, it may
// still end; if it is posted long after, it must not be fetched. The disable must end before the stop does. After the
// stop, the queue must send nothing.
func disabledInAStop(r *kit.Rig) {
	const queue, class, quanta = 3, 5, 6000
	PortCfg(r, nicspec.PortEntryFields{RxPfc: 1 << class})
	_, w := r.TxSetup(9, 2)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
	for _, late := range []int{0, 2 * nicspec.VisibleCycles} {
		x := r.OpenTx(queue, 3)
		p := Pauses(r)
		r.Play(ClassPause(1<<class, quanta))
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(late)
		r.Enqueue(x, r.Sound(w[0], 1))
		r.RingDoorbell(&x.Ring)
		r.Run(late)
		r.Disable(nicspec.TableTxq, queue)
		if late > 0 {
			r.Quiet()
			require.Less(r.T, r.Bed.NIC.Cycles(), p.Ins[0]+quanta, "nothing waits for the end of the stop")
		}
		r.Run(quanta * int(Quantum(r)))
		r.Quiet()
		r.Frames = nil
	}
	r.NoFrames()
}
