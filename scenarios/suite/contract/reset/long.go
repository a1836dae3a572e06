package reset

import (
	"math/rand/v2"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// LongChecks reset the device while only some of the 64-byte blocks of a long entry have been posted.
var LongChecks = []kit.Check{
	{Name: "function-level reset/while an entry waits for its blocks", Rules: "L2 L3 L4 T14", Stalls: kit.Stalled,
		Run: resetInsideEntry},
}

// resetInsideEntry resets the device when only part of an entry has been posted or pushed: nothing of it may remain.
func resetInsideEntry(r *kit.Rig) {
	rng := rand.New(rand.NewPCG(111, 9))
	for i := range 8 {
		x, w := r.TxSetup(6, 3)
		e := transmit.AnyLong(r, w, 2+i%3, rng)
		r.EnqueueLong(x, e)
		for k := range 1 + i%(1+i%3) {
			if r.Sizes.Has(nicspec.PartPush) && i%2 == 0 {
				transmit.PushBlock(r, x, &e, k)
			} else {
				r.Doorbell(false, x.Number, uint32(k+1))
			}
		}
		r.Run(i * 30)
		Reset(r)
		y, w := r.TxSetup(6, 2)
		r.TransmitLong(y, transmit.AnyLong(r, w, 1, rng), transmit.AnyLong(r, w, 3, rng),
			transmit.AnyLong(r, w, 4, rng))
		r.Disable(nicspec.TableTxq, 6)
		r.NoFrames()
	}
}
