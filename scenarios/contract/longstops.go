package contract

import (
	"math/rand/v2"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"slices"

	"github.com/stretchr/testify/require"
)

// longEnable has long entries wait for tx_enable, whole and not.
func longEnable(r *rig) {
	x, w := r.txSetup(7, 5)
	rng := rand.New(rand.NewPCG(87, 9))
	for i := range 6 {
		r.write(nicspec.RegCtrl, 1)
		r.synced()
		first := x.PI
		all := r.enqueueLong(x, r.anyLong(w, 2, rng), r.anyLong(w, 4, rng))
		inside := x.PI - uint16(i%4)
		r.doorbell(false, x.Number, uint32(inside))
		r.run(300)
		r.quiet()
		r.busyFalls()
		r.noFrames()
		r.write(nicspec.RegCtrl, 3)
		if i%4 == 0 {
			r.ended(x, first, all)
			continue
		}
		r.ended(x, first, all[:1])
		r.run(300)
		r.busyFalls()
		r.nothing(&x.ring)
		r.tell(&x.ring)
		r.ended(x, first+2, all[1:])
	}
	r.quiet()
	r.noFrames()
}

// longDisabled disables a queue in which part of an entry waits for the rest: it is forgotten, with what was pushed of it.
func longDisabled(r *rig) {
	_, w := r.txSetup(7, 3)
	rng := rand.New(rand.NewPCG(88, 9))
	for i := range 12 {
		x := r.openTx(6, 3)
		e := r.anyLong(w, 2+i%3, rng)
		r.enqueueLong(x, e)
		for k := range 1 + i%(1+i%3) {
			if r.sizes.Has(nicspec.PartPush) && i%2 == 0 {
				r.push(x.Number, r.wireLong(&e)[k*nicspec.WqeBytes:][:nicspec.WqeBytes])
			} else {
				r.doorbell(false, x.Number, uint32(k+1))
			}
		}
		r.run(i * 20)
		r.disable(nicspec.TableTxq, 6)
		r.busyFalls()
		r.nothing(&x.ring)
		r.noFrames()
		y := r.openTx(6, 2)
		r.transmitLong(y, r.anyLong(w, 1, rng), r.anyLong(w, 3, rng), r.anyLong(w, 4, rng))
		r.disable(nicspec.TableTxq, 6)
	}
}

// longRingErrors lets a read of the ring fail that begins anywhere in an entry: those wholly before that read end, none other
// starts.
func longRingErrors(r *rig) {
	r.write(nicspec.RegDevctl, 0) // reads of 128 B: two blocks
	_, w := r.txSetup(7, 3)
	rng := rand.New(rand.NewPCG(89, 9))
	for i := range 20 {
		x := r.openTx(6, 4)
		all := r.enqueueLong(x, r.anyLong(w, 1+i%3, rng), r.anyLong(w, 4, rng), r.anyLong(w, 2, rng), r.anyLong(w, 1, rng))
		from := 1 + i%6
		r.failOnce(failures[0].kind, x.At(uint16(from)), (16-from)*nicspec.WqeBytes)
		if i%2 > 0 { // from that block on with a doorbell of their own
			r.doorbell(false, x.Number, uint32(from))
			r.run(rng.IntN(300))
		}
		r.tell(&x.ring)
		r.struck()
		r.quiet()
		var got []nicspec.TxCqe
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			got = append(got, slices.Clone(e))
		}
		last := got[len(got)-1]
		require.Equal(r.t, nicspec.CqeTypeEvent, last.Type())
		require.Equal(r.t, failures[0].want, last.Status())
		require.GreaterOrEqual(r.t, int(last.Index()), from, "the first block of the read that failed")
		at := uint16(0)
		for k, e := range got[:len(got)-1] {
			require.Equal(r.t, at, e.Index())
			at += uint16(all[k].blocks(&r.sizes))
			require.Equal(r.t, all[k].frame, r.left(6).data)
		}
		n := len(got) - 1
		require.LessOrEqual(r.t, at, last.Index(), "an entry with a block in the read that failed")
		require.False(r.t, n < len(all) && at+uint16(all[n].blocks(&r.sizes)) <= last.Index(), "an entry wholly before block %d has not ended", last.Index())
		r.noFrames()
		r.disable(nicspec.TableTxq, 6)
	}
	r.b.Faults.Clear()
	r.transmitLong(r.openTx(6, 2), r.anyLong(w, 4, rng))
}

// longPieceErrors lets the read of each piece fail in turn, and answers some late.
func longPieceErrors(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.txSetup(3, 5)
	for i := range nicspec.SegMax {
		bad, late := r.soundLong(w[0], uint64(i)), r.soundLong(w[0], uint64(50+i))
		s, l := bad.segments()[i], late.segments()[7-i]
		r.failOnce(failures[i%len(failures)].kind, r.busOf(s), int(s.Len))
		require.NoError(r.t, r.b.Faults.Add(faultDelay(r, r.busOf(l), int(l.Len), 600)))
		first := x.PI
		all := r.enqueueLong(x, r.soundLong(w[1], 3), bad, late, r.soundLong(w[1], 5))
		if all[1].status = failures[i%len(failures)].want; all[1].status != nicspec.StatusOk {
			all[1].frame = nil
		}
		r.tell(&x.ring)
		r.ended(x, first, all)
		r.quiet()
	}
	r.b.Faults.Clear()
	r.noFrames()
}

// longTogether has several queues with entries of all sizes at once.
func longTogether(r *rig) {
	x, w := r.txSetup(2, 4)
	rings := []*txRing{x, r.openTx(9%r.sizes.NumTxq, 3), r.openTx(40%r.sizes.NumTxq, 5), r.openTx(r.sizes.NumTxq-1, 2)}
	rng := rand.New(rand.NewPCG(90, 9))
	for range 10 {
		var firsts []uint16
		var posts [][]posted
		for _, x := range rings {
			firsts = append(firsts, x.PI)
			var all []posted
			for first := x.PI; ; {
				e := r.anyLong(w, 1+rng.IntN(4), rng)
				if int(x.PI-first)+e.blocks(&r.sizes) > x.Size() {
					break
				}
				all = append(all, r.enqueueLong(x, e)...)
			}
			posts = append(posts, all)
			r.tell(&x.ring)
		}
		for i, x := range rings {
			r.ended(x, firsts[i], posts[i])
		}
	}
	r.quiet()
	r.noFrames()
}

// faultDelay has reads of n bytes answered late.
func faultDelay(r *rig, bus uint64, n, cycles int) inject.Fault {
	return inject.Fault{From: bus, To: bus + uint64(n), Delay: r.b.Cycles(cycles)}
}
