package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

const everyQueueParts = nicspec.PartPause | nicspec.PartCopy

var everyQueueChecks = []check{
	{"queues/each sends and copies after a stop of its class", "F4 T1 T10 D7 D8", calm, everyQueue},
}

// everyQueue posts a Send, a Copy and a Send to each transmit queue while all classes are stopped: none begins before the
// end of the stop, all end after it, twice.
func everyQueue(r *rig) {
	const classes, quanta = 8, 8000
	r.portCfg(nicspec.PortEntryFields{RxPfc: 0xff})
	first, w := r.copySetup(0, 2)
	r.disable(nicspec.TableTxq, first.Number)
	all := make([]*txRing, r.sizes.NumTxq)
	for q := range all {
		r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = uint8(q % classes) }
		all[q] = r.openTx(q, 2)
	}
	const entries = 3
	for lap := range uint64(2) {
		p := r.pauses()
		r.play(classPause(0xff, quanta))
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(2 * nicspec.VisibleCycles)
		posts := make([][]posted, len(all))
		for q, x := range all {
			posts[q] = r.enqueue(x, r.sound(w[0], lap), r.soundCopy(w[1], uint64(q)), r.sound(w[0], lap+1))
			r.tell(&x.ring)
		}
		for q, x := range all {
			r.ended(x, x.PI-entries, posts[q])
		}
		for i := range p.begins {
			require.GreaterOrEqual(r.t, p.begins[i].First, p.ins[0]+quanta*r.quantum(), "a frame begins in the stop")
		}
		r.quiet()
		r.frames = nil
	}
	r.noFrames()
}
