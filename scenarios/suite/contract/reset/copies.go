package reset

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// CopyChecks reset the device while copies are in flight.
var CopyChecks = []kit.Check{
	{Name: "function-level reset/of copies", Rules: "L2 L4 D3", Stalls: kit.Stalled, Run: resetCopies},
	{Name: "function-level reset/of copies that fail", Rules: "L2 D1", Stalls: kit.Stalled, Run: resetFailedCopies},
}

// resetCopies resets while copies are in flight. Each must end as usual or be cut short, and nothing may be written
// afterwards.
func resetCopies(r *kit.Rig) {
	for i := range 5 {
		const n = 60_032
		x, w := copies.CopySetup(r, 1, 3)
		y := r.OpenTx(2, 3)
		data := kit.Pattern(n, uint64(i))
		src, dst := r.Piece(w[0], 0, 64, data), r.Destination(w[1], i, 64, n)
		r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopyInvalidate, src, dst))
		r.Enqueue(y, copies.SoundCopy(r, w[0], 1), copies.SoundCopy(r, w[0], 2))
		r.RingDoorbell(&x.Ring)
		r.RingDoorbell(&y.Ring)
		r.Run(150 + i*200)
		keys := r.Keys
		Reset(r)
		requests := watchLeftovers(r)
		r.Run(3000)
		require.Zero(r.T, *requests, "TLPs of earlier work")
		r.Watch, r.Keys = nil, keys // the keys are still needed to locate the destination
		copies.EitherOr(r, dst, data)
		if e := r.Next(&x.Ring); e != nil {
			require.Contains(r.T, []nicspec.Status{nicspec.StatusOk, nicspec.StatusFlushed}, nicspec.TxCqe(e).Status())
		}
		asAfterReset(r)
	}
	Works(r, 6)
}

// resetFailedCopies resets while entries that failed their checks wait behind a long copy in its channel. The copy must
// be cut short, and the entries must keep their statuses.
func resetFailedCopies(r *kit.Rig) {
	for i := range 6 {
		const n = 250_000
		x, w := copies.CopySetup(r, 1, 3)
		copies.CopyKeys(r, w[0])
		y := r.OpenTx(1+nicspec.CopyChannels, 6)
		src, dst := r.Piece(w[1], 0, 64, kit.Pattern(n, uint64(i))), r.Destination(w[1], i, 64, n)
		r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, src, dst))
		var all []kit.Posted
		for k, f := range copies.CopyFlaws(r) {
			all = append(all, r.Enqueue(y, transmit.Flawed(r, &f, copies.SoundCopy(r, w[0], uint64(k)), true))...)
		}
		r.RingDoorbell(&x.Ring)
		r.Run(400)
		r.RingDoorbell(&y.Ring)
		r.Run(300 + i*150)
		Reset(r)
		for e := r.Next(&y.Ring); e != nil; e = r.Next(&y.Ring) {
			require.Equal(r.T, all[nicspec.TxCqe(e).Index()].Status, nicspec.TxCqe(e).Status())
		}
	}
	Works(r, 6)
}
