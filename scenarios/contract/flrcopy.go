package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var flrCopyChecks = []check{
	{"function-level reset/of copies", "L2 L4 D3", stalled, resetCopies},
	{"function-level reset/of copies that fail", "L2 D1", stalled, resetFailedCopies},
}

// resetCopies resets while copies are under way: each ends as usual or is cut short, and nothing is written afterwards.
func resetCopies(r *rig) {
	for i := range 5 {
		const n = 60_032
		x, w := r.copySetup(1, 3)
		y := r.openTx(2, 3)
		data := pattern(n, uint64(i))
		src, dst := r.piece(w[0], 0, 64, data), r.hole(w[1], i, 64, n)
		r.enqueue(x, copyEntry(nicspec.OpcodeCopyInvalidate, src, dst))
		r.enqueue(y, r.soundCopy(w[0], 1), r.soundCopy(w[0], 2))
		r.tell(&x.ring)
		r.tell(&y.ring)
		r.run(150 + i*200)
		keys := r.keys
		r.reset()
		requests := r.later()
		r.run(3000)
		require.Zero(r.t, *requests, "TLPs of earlier work")
		r.watch, r.keys = nil, keys // for where the destination is
		r.eitherOr(dst, data)
		if e := r.next(&x.ring); e != nil {
			require.Contains(r.t, []nicspec.Status{nicspec.StatusOk, nicspec.StatusFlushed}, nicspec.TxCqe(e).Status())
		}
		r.asAfterReset()
	}
	r.works(6)
}

// resetFailedCopies resets while entries that failed their checks wait behind a long copy in its channel: that is cut short,
// they have the status that they had.
func resetFailedCopies(r *rig) {
	for i := range 6 {
		const n = 250_000
		x, w := r.copySetup(1, 3)
		r.copyKeys(w[0])
		y := r.openTx(1+nicspec.CopyChannels, 6)
		src, dst := r.piece(w[1], 0, 64, pattern(n, uint64(i))), r.hole(w[1], i, 64, n)
		r.enqueue(x, copyEntry(nicspec.OpcodeCopy, src, dst))
		var all []posted
		for k, f := range r.copyFlaws() {
			all = append(all, r.enqueue(y, r.flawed(&f, r.soundCopy(w[0], uint64(k)), true))...)
		}
		r.tell(&x.ring)
		r.run(400)
		r.tell(&y.ring)
		r.run(300 + i*150)
		r.reset()
		for e := r.next(&y.ring); e != nil; e = r.next(&y.ring) {
			require.Equal(r.t, all[nicspec.TxCqe(e).Index()].status, nicspec.TxCqe(e).Status())
		}
	}
	r.works(6)
}
