package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

// enabledInAStop enables a queue, anew and with other classes than before, while its class is stopped: nothing of it is
// fetched, and nothing leaves, before the stop ends.
func enabledInAStop(r *rig) {
	const quanta = 12_000
	r.portCfg(nicspec.PortEntryFields{RxPfc: 0xff})
	_, w := r.txSetup(9, 2)
	for i, class := range []uint8{5, 2, 7} {
		r.quiet()
		p := r.pauses()
		r.play(classPause(1<<class, quanta))
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.run(2000) // more than a read of before may take to leave
		if i > 0 {
			r.disable(nicspec.TableTxq, 1)
		}
		r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
		x := r.openTx(1, 3)
		posts := r.enqueue(x, r.sound(w[0], 1), r.sound(w[0], 2))
		r.tell(&x.ring)
		r.run(4 * nicspec.VisibleCycles)
		require.Less(r.t, r.b.NIC.Cycles(), p.ins[0]+quanta*r.quantum(), "the doorbell comes before the stop ends")
		r.ended(x, 0, posts)
		r.stopped(p, 1, p.ins[0], quanta, fetchCycles)
		r.frames = nil
	}
	r.noFrames()
}

// manyWait stops the port while more frames are posted than any buffer holds, short ones, then the longest: they leave as
// posted when the stop ends.
func manyWait(r *rig) {
	const queues, log = 4, 6
	_, w := r.txSetup(1, 2)
	var held [queues]*txRing
	for i := range held {
		held[i] = r.openTx(4+i, log)
	}
	long := r.wide(5, 0, 20*nicspec.FrameMax)
	for _, c := range []struct{ n, bytes int }{{1 << log, nicspec.FrameMin}, {4, nicspec.FrameMax}} {
		var first [queues]uint16
		var posts [queues][]posted
		end := r.stop(25_000)
		for i, x := range held {
			var all []nicspec.WqeFields
			for k := range c.n {
				from := w[i%2]
				if c.bytes > 1000 {
					from = long
				}
				all = append(all, sendEntry(nil, r.piece(from, k%5, 64, pattern(c.bytes, uint64(k)))))
			}
			first[i] = x.PI
			posts[i] = r.enqueue(x, all...)
			r.tell(&x.ring)
		}
		r.run(10_000) // what fits anywhere is there
		require.Less(r.t, r.b.NIC.Cycles(), end, "everything waits before the stop ends")
		for i, x := range held {
			r.ended(x, first[i], posts[i])
		}
		r.quiet()
		r.noFrames()
	}
}
