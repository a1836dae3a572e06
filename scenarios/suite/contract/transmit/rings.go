package transmit

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// TxRingChecks fill and wrap transmit rings.
var TxRingChecks = []kit.Check{
	{Name: "transmit rings/laps of tiny rings", Rules: "T1 Q1 Q8 T10", Stalls: kit.Stalled, Run: txTinyRings},
	{Name: "transmit rings/every size", Rules: "T1 T11 Q1 Q8", Stalls: kit.Calm, Run: txEverySize},
	{Name: "transmit rings/all queues", Rules: "T1 T9 T10 B3 C1", Stalls: kit.Stalled, Run: allTxQueues},
	{Name: "transmit rings/entries are read once", Rules: "T2", Stalls: kit.Calm, Run: entriesOnce},
	{Name: "transmit rings/a doorbell an entry", Rules: "T1 Q2 T10", Stalls: kit.Stalled, Run: doorbellAnEntry},
	{Name: "transmit rings/tx_enable", Rules: "T1 G4 B8", Stalls: kit.Stalled, Run: txEnable},
	{Name: "transmit rings/bounded time", Rules: "T1 C3", Stalls: kit.Stalled, Run: boundedTime},
	{Name: "transmit rings/order under slow reads", Rules: "T1 T10 P5 P9", Stalls: kit.Stalled, Run: slowReads},
	{Name: "transmit rings/disabled and enabled again", Rules: "T11 Q5 Q8", Stalls: kit.Stalled, Run: txAgain},
	{Name: "transmit rings/disabled under traffic", Rules: "T11 G7", Stalls: kit.Stalled, Run: txUnderTraffic},
}

func txTinyRings(r *kit.Rig) {
	x, w := r.TxSetup(7, 2)
	rng := rand.New(rand.NewPCG(13, 9))
	for lap := range 60 {
		var all []nicspec.WqeFields
		for i := range 1 + lap%4 {
			e := r.Cut(w, kit.Pattern(60+lap*17+i, uint64(lap)), lap%17, 1+i%2, rng)
			e.FComplete = i%2 == 0
			all = append(all, e)
		}
		r.Transmit(x, all...)
	}
	e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 7))
	require.Equal(r.T, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{e.Pi, e.Ci, e.Cqi})
}

// doorbellAnEntry rings the doorbell for each entry as fast as possible. No entry may be lost, whatever happens in the
// cycle of a doorbell.
func doorbellAnEntry(r *kit.Rig) {
	x, w := r.TxSetup(7, 5)
	for n := range x.Size() {
		var all []nicspec.WqeFields
		for i := range 1 + n {
			all = append(all, r.Sound(w[i%2], uint64(i)))
		}
		first := x.PI
		posts := r.Enqueue(x, all...)
		for pi := first; pi != x.PI; pi++ {
			r.Doorbell(false, x.Number, uint32(pi+1))
		}
		r.Ended(x, first, posts)
	}
}

func txEverySize(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	for log := nicspec.LogSizeMin; log <= nicspec.LogSizeMax; log++ {
		if log == 8 {
			r.Free[0] = 1 << 36
		}
		q := log % r.Sizes.NumTxq
		x := r.OpenTx(q, log)
		for range 3 {
			var all []nicspec.WqeFields
			for i := range min(x.Size(), 20) {
				all = append(all,
					kit.SendEntry(kit.Pattern(4, 1), r.Piece(w[0], i, 64, kit.Pattern(60+i, uint64(log)))))
			}
			r.Transmit(x, all...)
		}
	}
}

func allTxQueues(r *kit.Rig) {
	r.Write(nicspec.RegCtrl, 2)
	w := []*kit.Window{r.Window(1, nicspec.EndpointArm, 1<<22), r.Window(2, nicspec.EndpointHost, 1<<22)}
	rng := rand.New(rand.NewPCG(14, 9))
	for q := range r.Sizes.NumTxq {
		r.OpenTx(q, 2+q%4)
	}
	for range 3 {
		posts := make([][]kit.Posted, r.Sizes.NumTxq)
		firsts := make([]uint16, r.Sizes.NumTxq)
		for _, q := range rng.Perm(r.Sizes.NumTxq) {
			x := r.Tx[q]
			var all []nicspec.WqeFields
			for i := range 4 {
				all = append(all, r.Cut(w, kit.Pattern(60+rng.IntN(600), rng.Uint64()), i, 2, rng))
			}
			firsts[q] = x.PI
			posts[q] = r.Enqueue(x, all...)
		}
		for _, q := range rng.Perm(r.Sizes.NumTxq) {
			r.RingDoorbell(&r.Tx[q].Ring)
		}
		for q := range r.Sizes.NumTxq {
			r.Ended(r.Tx[q], firsts[q], posts[q])
		}
	}
	r.Quiet()
	r.NoFrames()
}

func entriesOnce(r *kit.Rig) {
	r.Keep = true
	x, w := r.TxSetup(7, 4)
	for lap := range 6 {
		var all []nicspec.WqeFields
		for i := range 16 {
			all = append(all, kit.SendEntry(kit.Pattern(16, 1), r.Piece(w[0], i, 64, kit.Pattern(100+lap, uint64(i)))))
		}
		r.Transmit(x, all...)
	}
	ring, pieces := 0, 0
	for i := range r.Reads {
		_, n := r.Reads[i].Span()
		if a := r.Reads[i].Address; a >= x.Base && a < x.Base+1024 {
			ring += n
		} else {
			pieces += n
		}
	}
	require.Equal(r.T, 6*16*nicspec.WqeBytes, ring, "each entry is read exactly once")
	require.Equal(r.T, 16*(100+101+102+103+104+105), pieces, "and each byte of its pieces")
}

// txEnable clears and sets tx_enable repeatedly.
func txEnable(r *kit.Rig) {
	x, w := r.TxSetup(7, 6)
	r.Write(nicspec.RegCtrl, 1)
	r.Synced()
	entry := func(i int) nicspec.WqeFields { return r.Sound(w[i%2], uint64(i)) }
	first := x.PI
	all := r.Enqueue(x, entry(1), entry(2), nicspec.WqeFields{FComplete: true})
	r.RingDoorbell(&x.Ring)
	r.Run(2000)
	r.Nothing(&x.Ring)
	r.NoFrames()
	r.Counted("while tx_enable is 0", nil, func() { r.Run(1000) })
	r.Write(nicspec.RegCtrl, 2)
	r.Ended(x, first, all)
	for i := range 12 {
		first = x.PI
		var some []nicspec.WqeFields
		for k := range 30 {
			some = append(some, entry(k))
		}
		all = r.Enqueue(x, some...)
		r.RingDoorbell(&x.Ring)
		r.Run(150 + i*40)
		r.Write(nicspec.RegCtrl, 0) // while entries are in progress
		r.Synced()
		r.Quiet()     // until started entries have ended
		r.BusyFalls() // busy falls although entries were fetched: tx_enable 0 bars them
		done := 0
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			require.Equal(r.T, first+uint16(done), nicspec.TxCqe(e).Index())
			require.Equal(r.T, all[done].Frame, r.Left(7).Data)
			done++
		}
		r.NoFrames()
		r.Run(1000)
		r.Nothing(&x.Ring)
		r.Write(nicspec.RegCtrl, 2)
		r.Ended(x, first+uint16(done), all[done:])
	}
}

// boundedTime uses a queue with many long frames, and others with a single entry now and then, which must not wait
// until the first queue is empty.
func boundedTime(r *kit.Rig) {
	x, w := r.TxSetup(0, 10)
	big := r.Window(5, nicspec.EndpointHost, 1<<20)
	s := r.Piece(big, 1, 64, kit.Pattern(9216, 1))
	var all []nicspec.WqeFields
	for range 600 {
		e := kit.SendEntry(nil, s)
		e.FComplete = false
		all = append(all, e)
	}
	all[599].FComplete = true
	posts := r.Enqueue(x, all...)
	r.RingDoorbell(&x.Ring)
	var few []*kit.TxRing
	var ends [][]kit.Posted
	for _, q := range []int{1, r.Sizes.NumTxq / 2, r.Sizes.NumTxq - 1} {
		y := r.OpenTx(q, 3)
		few, ends = append(few, y), append(ends, r.Enqueue(y, r.Sound(w[0], 1), r.Sound(w[1], 2)))
		r.RingDoorbell(&y.Ring)
	}
	for i, y := range few {
		r.Ended(y, 0, ends[i])
	}
	require.Nil(r.T, r.Next(&x.Ring), "the busy queue is not done yet")
	r.Ended(x, 0, posts)
	r.Quiet()
	r.NoFrames()
}

// slowReads delays the reads of some entries' pieces, so that later entries have their bytes first. Entries must still
// end in order.
func slowReads(r *kit.Rig) {
	x, w := r.TxSetup(3, 5)
	y := r.OpenTx(4, 5)
	for i := range 8 {
		var a, b []nicspec.WqeFields
		for k := range 24 {
			a, b = append(a, r.Sound(w[0], uint64(k))), append(b, r.Sound(w[1], uint64(i)))
		}
		slow := nicspec.DecodeSeg(a[i*3%24].Slots[(i%3)*nicspec.SegSize:])
		at := w[0].Bus + slow.Addr - w[0].Va
		r.Bed.Faults.Clear()
		require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{From: at, To: at + 100, Delay: r.Bed.Cycles(3000)}))
		fa, fb := x.PI, y.PI
		pa, pb := r.Enqueue(x, a...), r.Enqueue(y, b...)
		r.RingDoorbell(&x.Ring)
		r.RingDoorbell(&y.Ring)
		r.Ended(y, fb, pb)
		r.Ended(x, fa, pa)
	}
}

func txAgain(r *kit.Rig) {
	_, w := r.TxSetup(0, 2)
	for lap := range 6 {
		x := r.OpenTx(5, 2+lap%3)
		n := 3 + lap%2
		for range 3 {
			var all []nicspec.WqeFields
			for i := range n {
				all = append(all, r.Sound(w[i%2], uint64(lap)))
			}
			r.Transmit(x, all...)
		}
		r.Counted("disabling counts nothing", nil, func() { r.Disable(nicspec.TableTxq, 5) })
		e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 5))
		require.Equal(r.T, nicspec.TxqEntryFields{Pi: uint16(3 * n), Ci: uint16(3 * n), Cqi: uint16(3 * n)}, e,
			"indices stay readable")
	}
}

// txUnderTraffic disables a busy queue beside another, which must not be affected.
func txUnderTraffic(r *kit.Rig) {
	other, w := r.TxSetup(1, 8)
	for lap := range 12 {
		x := r.OpenTx(2, 5)
		var mine, others []nicspec.WqeFields
		for i := range 32 {
			mine, others = append(mine, r.Sound(w[0], uint64(i))), append(others, r.Sound(w[1], uint64(i)))
		}
		first := other.PI
		pm, po := r.Enqueue(x, mine...), r.Enqueue(other, others...)
		r.RingDoorbell(&x.Ring)
		r.RingDoorbell(&other.Ring)
		r.Run(40 + 60*lap)
		r.Disable(nicspec.TableTxq, 2)
		n := 0
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			require.Equal(r.T, uint16(n), nicspec.TxCqe(e).Index())
			require.Equal(r.T, nicspec.StatusOk, nicspec.TxCqe(e).Status())
			require.Equal(r.T, pm[n].Frame, r.Left(2).Data)
			n++
		}
		require.False(r.T, r.LeftFrom(2))
		e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
		require.Equal(r.T, [2]uint16{uint16(n), uint16(n)}, [2]uint16{e.Ci, e.Cqi})
		require.Equal(r.T, nicspec.QueueStateOff, e.State)
		r.Ended(other, first, po)
		r.Run(500)
		r.Nothing(&x.Ring)
		r.NoFrames()
	}
}
