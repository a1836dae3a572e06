package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

var txRingChecks = []check{
	{"transmit rings/laps of tiny rings", "T1 Q1 Q8 T10", stalled, txTinyRings},
	{"transmit rings/every size", "T1 T11 Q1 Q8", calm, txEverySize},
	{"transmit rings/all queues", "T1 T9 T10 B3 C1", stalled, allTxQueues},
	{"transmit rings/entries are read once", "T2", calm, entriesOnce},
	{"transmit rings/a doorbell an entry", "T1 Q2 T10", stalled, doorbellAnEntry},
	{"transmit rings/tx_enable", "T1 G4 B8", stalled, txEnable},
	{"transmit rings/bounded time", "T1 C3", stalled, boundedTime},
	{"transmit rings/order under slow reads", "T1 T10 P5 P9", stalled, slowReads},
	{"transmit rings/disabled and enabled again", "T11 Q5 Q8", stalled, txAgain},
	{"transmit rings/disabled under traffic", "T11 G7", stalled, txUnderTraffic},
}

func txTinyRings(r *rig) {
	x, w := r.txSetup(7, 2)
	rng := rand.New(rand.NewPCG(13, 9))
	for lap := range 60 {
		var all []nicspec.WqeFields
		for i := range 1 + lap%4 {
			e := r.cut(w, pattern(60+lap*17+i, uint64(lap)), lap%17, 1+i%2, rng)
			e.FComplete = i%2 == 0
			all = append(all, e)
		}
		r.transmit(x, all...)
	}
	e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 7))
	require.Equal(r.t, [3]uint16{x.PI, x.PI, x.CQI}, [3]uint16{e.Pi, e.Ci, e.Cqi})
}

// doorbellAnEntry tells of entries one by one, as fast as doorbells go: whatever a doorbell meets, its entry is not forgotten.
func doorbellAnEntry(r *rig) {
	x, w := r.txSetup(7, 5)
	for n := range x.Size() {
		var all []nicspec.WqeFields
		for i := range 1 + n {
			all = append(all, r.sound(w[i%2], uint64(i)))
		}
		first := x.PI
		posts := r.enqueue(x, all...)
		for pi := first; pi != x.PI; pi++ {
			r.doorbell(false, x.Number, uint32(pi+1))
		}
		r.ended(x, first, posts)
	}
}

func txEverySize(r *rig) {
	_, w := r.txSetup(0, 2)
	for log := nicspec.LogSizeMin; log <= nicspec.LogSizeMax; log++ {
		if log == 8 {
			r.free[0] = 1 << 36
		}
		q := log % r.sizes.NumTxq
		x := r.openTx(q, log)
		for range 3 {
			var all []nicspec.WqeFields
			for i := range min(x.Size(), 20) {
				all = append(all, sendEntry(pattern(4, 1), r.piece(w[0], i, 64, pattern(60+i, uint64(log)))))
			}
			r.transmit(x, all...)
		}
	}
}

func allTxQueues(r *rig) {
	r.write(nicspec.RegCtrl, 2)
	w := []*window{r.window(1, nicspec.EndpointArm, 1<<22), r.window(2, nicspec.EndpointHost, 1<<22)}
	rng := rand.New(rand.NewPCG(14, 9))
	for q := range r.sizes.NumTxq {
		r.openTx(q, 2+q%4)
	}
	for range 3 {
		posts := make([][]posted, r.sizes.NumTxq)
		firsts := make([]uint16, r.sizes.NumTxq)
		for _, q := range rng.Perm(r.sizes.NumTxq) {
			x := r.tx[q]
			var all []nicspec.WqeFields
			for i := range 4 {
				all = append(all, r.cut(w, pattern(60+rng.IntN(600), rng.Uint64()), i, 2, rng))
			}
			firsts[q] = x.PI
			posts[q] = r.enqueue(x, all...)
		}
		for _, q := range rng.Perm(r.sizes.NumTxq) {
			r.tell(&r.tx[q].ring)
		}
		for q := range r.sizes.NumTxq {
			r.ended(r.tx[q], firsts[q], posts[q])
		}
	}
	r.quiet()
	r.noFrames()
}

func entriesOnce(r *rig) {
	r.keep = true
	x, w := r.txSetup(7, 4)
	for lap := range 6 {
		var all []nicspec.WqeFields
		for i := range 16 {
			all = append(all, sendEntry(pattern(16, 1), r.piece(w[0], i, 64, pattern(100+lap, uint64(i)))))
		}
		r.transmit(x, all...)
	}
	ring, pieces := 0, 0
	for i := range r.reads {
		_, n := r.reads[i].Span()
		if a := r.reads[i].Address; a >= x.Base && a < x.Base+1024 {
			ring += n
		} else {
			pieces += n
		}
	}
	require.Equal(r.t, 6*16*nicspec.WqeBytes, ring, "each entry is read exactly once")
	require.Equal(r.t, 16*(100+101+102+103+104+105), pieces, "and each byte of its pieces")
}

// txEnable holds work back and lets it go, over and over.
func txEnable(r *rig) {
	x, w := r.txSetup(7, 6)
	r.write(nicspec.RegCtrl, 1)
	r.synced()
	entry := func(i int) nicspec.WqeFields { return r.sound(w[i%2], uint64(i)) }
	first := x.PI
	all := r.enqueue(x, entry(1), entry(2), nicspec.WqeFields{FComplete: true})
	r.tell(&x.ring)
	r.run(2000)
	r.nothing(&x.ring)
	r.noFrames()
	r.counted("while tx_enable is 0", nil, func() { r.run(1000) })
	r.write(nicspec.RegCtrl, 2)
	r.ended(x, first, all)
	for i := range 12 {
		first = x.PI
		var some []nicspec.WqeFields
		for k := range 30 {
			some = append(some, entry(k))
		}
		all = r.enqueue(x, some...)
		r.tell(&x.ring)
		r.run(150 + i*40)
		r.write(nicspec.RegCtrl, 0) // under way
		r.synced()
		r.quiet()     // what was started has ended
		r.busyFalls() // whether entries were fetched that may not start or not
		done := 0
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			require.Equal(r.t, first+uint16(done), nicspec.TxCqe(e).Index())
			require.Equal(r.t, all[done].frame, r.left(7).data)
			done++
		}
		r.noFrames()
		r.run(1000)
		r.nothing(&x.ring)
		r.write(nicspec.RegCtrl, 2)
		r.ended(x, first+uint16(done), all[done:])
	}
}

// boundedTime has a queue with much to do and long frames, and others with a single entry now and then: they do not wait for
// the first one's end.
func boundedTime(r *rig) {
	x, w := r.txSetup(0, 10)
	big := r.window(5, nicspec.EndpointHost, 1<<20)
	s := r.piece(big, 1, 64, pattern(9216, 1))
	var all []nicspec.WqeFields
	for range 600 {
		e := sendEntry(nil, s)
		e.FComplete = false
		all = append(all, e)
	}
	all[599].FComplete = true
	posts := r.enqueue(x, all...)
	r.tell(&x.ring)
	var few []*txRing
	var ends [][]posted
	for _, q := range []int{1, r.sizes.NumTxq / 2, r.sizes.NumTxq - 1} {
		y := r.openTx(q, 3)
		few, ends = append(few, y), append(ends, r.enqueue(y, r.sound(w[0], 1), r.sound(w[1], 2)))
		r.tell(&y.ring)
	}
	for i, y := range few {
		r.ended(y, 0, ends[i])
	}
	require.Nil(r.t, r.next(&x.ring), "the busy queue is not done yet")
	r.ended(x, 0, posts)
	r.quiet()
	r.noFrames()
}

// slowReads delays the pieces of some entries so that later ones are there first: entries end in order all the same.
func slowReads(r *rig) {
	x, w := r.txSetup(3, 5)
	y := r.openTx(4, 5)
	for i := range 8 {
		var a, b []nicspec.WqeFields
		for k := range 24 {
			a, b = append(a, r.sound(w[0], uint64(k))), append(b, r.sound(w[1], uint64(i)))
		}
		slow := nicspec.DecodeSeg(a[i*3%24].Slots[(i%3)*nicspec.SegSize:])
		at := w[0].bus + slow.Addr - w[0].va
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: at, To: at + 100, Delay: r.b.Cycles(3000)}))
		fa, fb := x.PI, y.PI
		pa, pb := r.enqueue(x, a...), r.enqueue(y, b...)
		r.tell(&x.ring)
		r.tell(&y.ring)
		r.ended(y, fb, pb)
		r.ended(x, fa, pa)
	}
}

func txAgain(r *rig) {
	_, w := r.txSetup(0, 2)
	for lap := range 6 {
		x := r.openTx(5, 2+lap%3)
		n := 3 + lap%2
		for range 3 {
			var all []nicspec.WqeFields
			for i := range n {
				all = append(all, r.sound(w[i%2], uint64(lap)))
			}
			r.transmit(x, all...)
		}
		r.counted("disabling counts nothing", nil, func() { r.disable(nicspec.TableTxq, 5) })
		e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 5))
		require.Equal(r.t, nicspec.TxqEntryFields{Pi: uint16(3 * n), Ci: uint16(3 * n), Cqi: uint16(3 * n)}, e, "indices stay readable")
	}
}

// txUnderTraffic disables a queue with work in it while another goes on.
func txUnderTraffic(r *rig) {
	other, w := r.txSetup(1, 8)
	for lap := range 12 {
		x := r.openTx(2, 5)
		var mine, others []nicspec.WqeFields
		for i := range 32 {
			mine, others = append(mine, r.sound(w[0], uint64(i))), append(others, r.sound(w[1], uint64(i)))
		}
		first := other.PI
		pm, po := r.enqueue(x, mine...), r.enqueue(other, others...)
		r.tell(&x.ring)
		r.tell(&other.ring)
		r.run(40 + 60*lap)
		r.disable(nicspec.TableTxq, 2)
		n := 0
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			require.Equal(r.t, uint16(n), nicspec.TxCqe(e).Index())
			require.Equal(r.t, nicspec.StatusOk, nicspec.TxCqe(e).Status())
			require.Equal(r.t, pm[n].frame, r.left(2).data)
			n++
		}
		require.False(r.t, r.leftFrom(2))
		e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
		require.Equal(r.t, [2]uint16{uint16(n), uint16(n)}, [2]uint16{e.Ci, e.Cqi})
		require.Equal(r.t, nicspec.QueueStateOff, e.State)
		r.ended(other, first, po)
		r.run(500)
		r.nothing(&x.ring)
		r.noFrames()
	}
}
