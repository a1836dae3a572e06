package pause

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/kit"
)

// enabledInAStop enables a queue for the first time, and again with another class, while its class is stopped. Nothing
// of it may be fetched or sent before the stop ends.
func enabledInAStop(r *kit.Rig) {
	const quanta = 12_000
	PortCfg(r, nicspec.PortEntryFields{RxPfc: 0xff})
	_, w := r.TxSetup(9, 2)
	for i, class := range []uint8{5, 2, 7} {
		r.Quiet()
		p := Pauses(r)
		r.Play(ClassPause(1<<class, quanta))
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Run(2000) // until a read that was requested earlier has left
		if i > 0 {
			r.Disable(nicspec.TableTxq, 1)
		}
		r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = class }
		x := r.OpenTx(1, 3)
		posts := r.Enqueue(x, r.Sound(w[0], 1), r.Sound(w[0], 2))
		r.RingDoorbell(&x.Ring)
		r.Run(4 * nicspec.VisibleCycles)
		require.Less(r.T, r.Bed.NIC.Cycles(), p.Ins[0]+quanta*Quantum(r), "the doorbell comes before the stop ends")
		r.Ended(x, 0, posts)
		stopped(r, p, 1, p.Ins[0], quanta, fetchCycles)
		r.Frames = nil
	}
	r.NoFrames()
}

// manyWait stops the port while more frames are posted than the device can buffer: short ones, then the longest. They
// must leave in the order posted when the stop ends.
func manyWait(r *kit.Rig) {
	const queues, log = 4, 6
	_, w := r.TxSetup(1, 2)
	var held [queues]*kit.TxRing
	for i := range held {
		held[i] = r.OpenTx(4+i, log)
	}
	long := copies.Wide(r, 5, 0, 20*nicspec.FrameMax)
	for _, c := range []struct{ n, bytes int }{{1 << log, nicspec.FrameMin}, {4, nicspec.FrameMax}} {
		var first [queues]uint16
		var posts [queues][]kit.Posted
		end := stop(r, 25_000)
		for i, x := range held {
			var all []nicspec.WqeFields
			for k := range c.n {
				from := w[i%2]
				if c.bytes > 1000 {
					from = long
				}
				all = append(all, kit.SendEntry(nil, r.Piece(from, k%5, 64, kit.Pattern(c.bytes, uint64(k)))))
			}
			first[i] = x.PI
			posts[i] = r.Enqueue(x, all...)
			r.RingDoorbell(&x.Ring)
		}
		r.Run(10_000) // until every buffer is full
		require.Less(r.T, r.Bed.NIC.Cycles(), end, "the buffers are full before the stop ends")
		for i, x := range held {
			r.Ended(x, first[i], posts[i])
		}
		r.Quiet()
		r.NoFrames()
	}
}
