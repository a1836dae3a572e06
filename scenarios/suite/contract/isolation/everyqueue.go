package isolation

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/pause"
)

const EveryQueueParts = nicspec.PartPause | nicspec.PartCopy

// EveryQueueChecks use every queue at once.
var EveryQueueChecks = []kit.Check{
	{Name: "queues/each sends and copies after a stop of its class", Rules: "F4 T1 T10 D7 D8", Stalls: kit.Calm,
		Run: everyQueue},
}

// everyQueue posts a Send, a Copy and a Send to each transmit queue while all classes are stopped, twice. No frame may
// leave before the end of the stop, and all entries must end after it.
func everyQueue(r *kit.Rig) {
	const classes, quanta = 8, 8000
	pause.PortCfg(r, nicspec.PortEntryFields{RxPfc: 0xff})
	first, w := copies.CopySetup(r, 0, 2)
	r.Disable(nicspec.TableTxq, first.Number)
	all := make([]*kit.TxRing, r.Sizes.NumTxq)
	for q := range all {
		r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = uint8(q % classes) }
		all[q] = r.OpenTx(q, 2)
	}
	const entries = 3
	for lap := range uint64(2) {
		p := pause.Pauses(r)
		r.Play(pause.ClassPause(0xff, quanta))
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(2 * nicspec.VisibleCycles)
		posts := make([][]kit.Posted, len(all))
		for q, x := range all {
			posts[q] = r.Enqueue(x, r.Sound(w[0], lap), copies.SoundCopy(r, w[1], uint64(q)), r.Sound(w[0], lap+1))
			r.RingDoorbell(&x.Ring)
		}
		for q, x := range all {
			r.Ended(x, x.PI-entries, posts[q])
		}
		for i := range p.Begins {
			require.GreaterOrEqual(r.T, p.Begins[i].First, p.Ins[0]+quanta*pause.Quantum(r),
				"a frame begins during the stop")
		}
		r.Quiet()
		r.Frames = nil
	}
	r.NoFrames()
}
