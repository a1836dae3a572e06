package transmit

import (
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// longEnable makes complete and incomplete long entries wait for tx_enable.
func longEnable(r *kit.Rig) {
	x, w := r.TxSetup(7, 5)
	rng := rand.New(rand.NewPCG(87, 9))
	for i := range 6 {
		r.Write(nicspec.RegCtrl, 1)
		r.Synced()
		first := x.PI
		all := r.EnqueueLong(x, AnyLong(r, w, 2, rng), AnyLong(r, w, 4, rng))
		inside := x.PI - uint16(i%4)
		r.Doorbell(false, x.Number, uint32(inside))
		r.Run(300)
		r.Quiet()
		r.BusyFalls()
		r.NoFrames()
		r.Write(nicspec.RegCtrl, 3)
		if i%4 == 0 {
			r.Ended(x, first, all)
			continue
		}
		r.Ended(x, first, all[:1])
		r.Run(300)
		r.BusyFalls()
		r.Nothing(&x.Ring)
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first+2, all[1:])
	}
	r.Quiet()
	r.NoFrames()
}

// longDisabled disables a queue while an entry in it is incomplete: its blocks must be discarded, pushed ones included.
func longDisabled(r *kit.Rig) {
	_, w := r.TxSetup(7, 3)
	rng := rand.New(rand.NewPCG(88, 9))
	for i := range 12 {
		x := r.OpenTx(6, 3)
		e := AnyLong(r, w, 2+i%3, rng)
		r.EnqueueLong(x, e)
		for k := range 1 + i%(1+i%3) {
			if r.Sizes.Has(nicspec.PartPush) && i%2 == 0 {
				Push(r, x.Number, r.WireLong(&e)[k*nicspec.WqeBytes:][:nicspec.WqeBytes])
			} else {
				r.Doorbell(false, x.Number, uint32(k+1))
			}
		}
		r.Run(i * 20)
		r.Disable(nicspec.TableTxq, 6)
		r.BusyFalls()
		r.Nothing(&x.Ring)
		r.NoFrames()
		y := r.OpenTx(6, 2)
		r.TransmitLong(y, AnyLong(r, w, 1, rng), AnyLong(r, w, 3, rng), AnyLong(r, w, 4, rng))
		r.Disable(nicspec.TableTxq, 6)
	}
}

// longRingErrors makes a ring read fail that begins at any block of an entry. Entries wholly before that read must end;
// no other may start.
func longRingErrors(r *kit.Rig) {
	r.Write(nicspec.RegDevctl, 0) // reads of 128 B: two blocks
	_, w := r.TxSetup(7, 3)
	rng := rand.New(rand.NewPCG(89, 9))
	for i := range 20 {
		x := r.OpenTx(6, 4)
		all := r.EnqueueLong(x, AnyLong(r, w, 1+i%3, rng), AnyLong(r, w, 4, rng), AnyLong(r, w, 2, rng),
			AnyLong(r, w, 1, rng))
		from := 1 + i%6
		r.FailOnce(kit.Failures[0].Kind, x.At(uint16(from)), (16-from)*nicspec.WqeBytes)
		if i%2 > 0 { // a second doorbell announces the blocks from the failing one on
			r.Doorbell(false, x.Number, uint32(from))
			r.Run(rng.IntN(300))
		}
		r.RingDoorbell(&x.Ring)
		r.AwaitFault()
		r.Quiet()
		var got []nicspec.TxCqe
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			got = append(got, slices.Clone(e))
		}
		last := got[len(got)-1]
		require.Equal(r.T, nicspec.CqeTypeEvent, last.Type())
		require.Equal(r.T, kit.Failures[0].Want, last.Status())
		require.GreaterOrEqual(r.T, int(last.Index()), from, "the first block of the read that failed")
		at := uint16(0)
		for k, e := range got[:len(got)-1] {
			require.Equal(r.T, at, e.Index())
			at += uint16(all[k].BlocksOf(&r.Sizes))
			require.Equal(r.T, all[k].Frame, r.Left(6).Data)
		}
		n := len(got) - 1
		require.LessOrEqual(r.T, at, last.Index(), "an entry with a block in the read that failed")
		require.False(r.T, n < len(all) && at+uint16(all[n].BlocksOf(&r.Sizes)) <= last.Index(),
			"an entry wholly before block %d has not ended", last.Index())
		r.NoFrames()
		r.Disable(nicspec.TableTxq, 6)
	}
	r.Bed.Faults.Clear()
	r.TransmitLong(r.OpenTx(6, 2), AnyLong(r, w, 4, rng))
}

// longPieceErrors makes the reads of a long entry's pieces fail, one in each try, and delays a piece of the next entry.
func longPieceErrors(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := r.TxSetup(3, 5)
	for i := range nicspec.SegMax {
		bad, late := soundLong(r, w[0], uint64(i)), soundLong(r, w[0], uint64(50+i))
		s, l := bad.Segments()[i], late.Segments()[7-i]
		r.FailOnce(kit.Failures[i%len(kit.Failures)].Kind, r.BusOf(s), int(s.Len))
		require.NoError(r.T, r.Bed.Faults.Add(kit.FaultDelay(r, r.BusOf(l), int(l.Len), 600)))
		first := x.PI
		all := r.EnqueueLong(x, soundLong(r, w[1], 3), bad, late, soundLong(r, w[1], 5))
		if all[1].Status = kit.Failures[i%len(kit.Failures)].Want; all[1].Status != nicspec.StatusOk {
			all[1].Frame = nil
		}
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first, all)
		r.Quiet()
	}
	r.Bed.Faults.Clear()
	r.NoFrames()
}

// longTogether uses several queues at once, with entries of all sizes.
func longTogether(r *kit.Rig) {
	x, w := r.TxSetup(2, 4)
	rings := []*kit.TxRing{x, r.OpenTx(9%r.Sizes.NumTxq, 3), r.OpenTx(40%r.Sizes.NumTxq, 5),
		r.OpenTx(r.Sizes.NumTxq-1, 2)}
	rng := rand.New(rand.NewPCG(90, 9))
	for range 10 {
		var firsts []uint16
		var posts [][]kit.Posted
		for _, x := range rings {
			firsts = append(firsts, x.PI)
			var all []kit.Posted
			for first := x.PI; ; {
				e := AnyLong(r, w, 1+rng.IntN(4), rng)
				if int(x.PI-first)+e.BlocksOf(&r.Sizes) > x.Size() {
					break
				}
				all = append(all, r.EnqueueLong(x, e)...)
			}
			posts = append(posts, all)
			r.RingDoorbell(&x.Ring)
		}
		for i, x := range rings {
			r.Ended(x, firsts[i], posts[i])
		}
	}
	r.Quiet()
	r.NoFrames()
}
