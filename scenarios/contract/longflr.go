package contract

import (
	"math/rand/v2"

	"nictwin/models/nicspec"
)

var longFlrChecks = []check{
	{"function-level reset/while an entry waits for its blocks", "L2 L3 L4 T14", stalled, resetInsideEntry},
}

// resetInsideEntry resets the device while part of an entry was posted, or pushed: nothing of it is left afterwards.
func resetInsideEntry(r *rig) {
	rng := rand.New(rand.NewPCG(111, 9))
	for i := range 8 {
		x, w := r.txSetup(6, 3)
		e := r.anyLong(w, 2+i%3, rng)
		r.enqueueLong(x, e)
		for k := range 1 + i%(1+i%3) {
			if r.sizes.Has(nicspec.PartPush) && i%2 == 0 {
				r.pushBlock(x, &e, k)
			} else {
				r.doorbell(false, x.Number, uint32(k+1))
			}
		}
		r.run(i * 30)
		r.reset()
		y, w := r.txSetup(6, 2)
		r.transmitLong(y, r.anyLong(w, 1, rng), r.anyLong(w, 3, rng), r.anyLong(w, 4, rng))
		r.disable(nicspec.TableTxq, 6)
		r.noFrames()
	}
}
