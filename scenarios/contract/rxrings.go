package contract

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var rxRingChecks = []check{
	{"rings/laps of tiny rings", "Q1 Q7 Q8 R10 R11", stalled, tinyRings},
	{"rings/every size", "Q1 Q6 Q8", calm, everySize},
	{"rings/indices beyond 65535", "Q1 Q2 Q8", calm, rxIndicesWrap},
	{"rings/all receive queues", "R7 R10 R11 C1", stalled, allRxQueues},
	{"rings/doorbells while frames come", "R9 Q2 Q3", stalled, lateDoorbells},
	{"rings/disabled and enabled again", "Q5 Q8 G6", stalled, rxAgain},
	{"rings/disabled under traffic", "Q5 R12 G7", stalled, rxUnderTraffic},
	{"rings/buffers are used once", "R10 C2", calm, usedOnce},
	{"rings/descriptors are read once", "Q3 P2", calm, descriptorsOnce},
}

func tinyRings(r *rig) {
	x := r.openRx(1, 2, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.receiveAll(1)
	for lap := range 60 {
		n := 1 + lap%4
		first := r.ordinal()
		r.post(x, n)
		for i := range n {
			r.play(frameOf(60 + lap*29%1500 + i))
		}
		for i := range n {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		r.nothing(&x.ring)
	}
}

func everySize(r *rig) {
	r.receiveAll(0)
	for log := nicspec.LogSizeMin; log <= nicspec.LogSizeMax; log++ {
		if log == 8 {
			r.free[0] = 1 << 36 // from here on, addresses of Arm memory that take four DWs
		}
		x := r.openRx(log, log, nil)
		r.toQueue(log)
		r.synced()
		n := min(x.Size(), 40)
		for range 2 {
			first := r.ordinal()
			r.post(x, n)
			for i := range n {
				r.play(blob(60+i, uint64(log)))
			}
			for i := range n {
				r.delivered(x, first+i, nicspec.RuleNone)
			}
		}
		e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, log))
		require.Equal(r.t, [3]int{2 * n, 2 * n, 2 * n}, [3]int{int(e.Pi), int(e.Ci), int(e.Cqi)}, "indices stay readable")
	}
}

// rxIndicesWrap delivers more frames than an index can count.
func rxIndicesWrap(r *rig) {
	const log, total = 12, 1<<16 + 300
	x := r.openRx(2, log, nil)
	r.receiveAll(2)
	h, p := r.buffers(0, 0)
	f := blob(256, 1) // none is lost at line rate [C4]
	for done := 0; done < total; {
		n := min(x.Size(), total-done)
		for range n {
			r.put(x, h, p) // a buffer may be anywhere
		}
		r.tell(&x.ring)
		first := r.ordinal()
		for range n {
			r.play(f)
		}
		for i := range n {
			got := r.rxCqe(x)
			require.Equal(r.t, uint16(done+i), got.Index())
			require.Equal(r.t, uint32(first+i), got.PortSeq())
		}
		done += n
	}
	r.nothing(&x.ring)
	e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 2))
	require.EqualValues(r.t, total%(1<<16), e.Ci)
	require.EqualValues(r.t, total%(1<<16), e.Cqi)
}

// byDest sends frames to the queue that the last byte of their destination names, by one rule a queue.
func (r *rig) byDest(queues ...int) {
	r.t.Helper()
	for i, q := range queues {
		f := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(q)}
		f.Value[13], f.Mask[13] = uint8(q), 0xff
		r.rule(i, f)
	}
}

// to addresses a frame to a queue.
func to(q int, frame []byte) []byte {
	frame[5] = uint8(q)
	return frame
}

func allRxQueues(r *rig) {
	n := min(r.sizes.NumRxq, r.sizes.NumRules)
	var queues []int
	for q := range n {
		queues = append(queues, q)
		x := r.openRx(q, 2+q%4, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = nicspec.SplitMode(q%3), uint16(q*3)
		})
		r.post(x, 4)
	}
	r.byDest(queues...)
	r.receiveAll(0)
	rng := rand.New(rand.NewPCG(4, 4))
	first := r.ordinal()
	var order []int
	for range 4 {
		for _, q := range rng.Perm(n) {
			order = append(order, q)
			r.play(to(q, frameOf(60+rng.IntN(700))))
		}
	}
	for i, q := range order {
		r.delivered(r.rx[q], first+i, uint16(q))
	}
}

// lateDoorbells posts descriptors one by one while frames come, sometimes too late.
func lateDoorbells(r *rig) {
	x := r.openRx(1, 3, nil)
	r.receiveAll(1)
	rng := rand.New(rand.NewPCG(8, 1))
	for range 150 {
		for range rng.IntN(4) {
			r.play(blob(60+rng.IntN(300), 1))
		}
		used := int(x.CQI)
		for range min(rng.IntN(4), x.Size()-(len(x.posted)-used)) {
			h, p := r.buffers(0, 1)
			r.put(x, h, p)
		}
		r.tell(&x.ring)
		r.run(rng.IntN(60))
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			require.Equal(r.t, uint16(used), nicspec.RxCqe(e).Index())
			used++
		}
	}
	r.quiet()
	c := r.counters()
	require.EqualValues(r.t, r.ordinal(), c[port(nicspec.CntRxDelivered)]+c[port(nicspec.CntRxDropNoDesc)])
	require.NotZero(r.t, c[port(nicspec.CntRxDelivered)])
}

func rxAgain(r *rig) {
	r.receiveAll(5)
	for lap := range 6 {
		x := r.openRx(5, 2+lap%3, nil)
		n := 3 + lap%2
		for turn := range 2 {
			first := r.ordinal()
			r.post(x, n)
			for i := range n - turn {
				r.play(blob(60+i+lap, uint64(lap)))
			}
			for i := range n - turn {
				r.delivered(x, first+i, nicspec.RuleNone)
			}
		}
		r.counted("disabling counts nothing", nil, func() { r.disable(nicspec.TableRxq, 5) }) // one descriptor is forgotten
		e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 5))
		require.Equal(r.t, nicspec.RxqEntryFields{Pi: uint16(2 * n), Ci: uint16(2*n - 1), Cqi: uint16(2*n - 1)}, e, "indices stay readable")
	}
}

// rxUnderTraffic disables a queue while frames come for it and for another, which goes on.
func rxUnderTraffic(r *rig) {
	other := r.openRx(1, 9, nil)
	r.byDest(1, 2)
	r.receiveAll(1)
	r.post(other, 480)
	var mine []int
	for lap := range 12 {
		x := r.openRx(2, 5, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 40 })
		r.post(x, 32)
		for i := range 40 {
			mine = append(mine, r.ordinal())
			r.play(to(1, blob(60+i*7, uint64(i))), to(2, blob(1500-i*11, uint64(i))))
		}
		r.run(50 + 90*lap)
		r.disable(nicspec.TableRxq, 2)
		n := x.CQI
		for e := r.next(&x.ring); e != nil; e = r.next(&x.ring) {
			n++
		}
		r.run(300)
		r.nothing(&x.ring) // busy has fallen: nothing is written any more
		e := nicspec.DecodeRxqEntry(r.entry(nicspec.TableRxq, 2))
		require.Equal(r.t, [2]uint16{n, n}, [2]uint16{e.Ci, e.Cqi})
		require.Equal(r.t, nicspec.QueueStateOff, e.State)
		r.played()
	}
	for _, ordinal := range mine {
		r.delivered(other, ordinal, 0)
	}
}

// usedOnce posts all descriptors with the same buffer, and watches the bytes about it.
func usedOnce(r *rig) {
	x := r.openRx(3, 3, func(f *nicspec.RxqEntryFields) {
		f.SplitMode, f.SplitLen, f.HdrBufSize = nicspec.SplitModeFixed, 20, 20
	})
	r.receiveAll(3)
	around := r.alloc(nicspec.EndpointArm, 4096, 4096)
	for i := range 64 {
		mark := pattern(1024, uint64(i))
		r.store(around, mark)
		n := 60 + i
		h, p := around+100+uint64(i%9), around+300+uint64(i%7)
		r.put(x, h, p)
		r.tell(&x.ring)
		r.play(blob(n, 9))
		r.delivered(x, r.ordinal()-1, nicspec.RuleNone)
		want := append([]byte(nil), mark...)
		copy(want[h-around:], blob(n, 9)[:20])
		copy(want[p-around:], blob(n, 9)[20:])
		require.Equal(r.t, want, r.load(around, 1024), "nothing else is written")
	}
}

func descriptorsOnce(r *rig) {
	r.keep = true
	x := r.openRx(3, 4, nil)
	r.receiveAll(3)
	for range 9 {
		first := r.ordinal()
		r.post(x, 16)
		for i := range 16 {
			r.play(blob(60+i, 1))
		}
		for i := range 16 {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
	}
	bytes := 0
	for i := range r.reads {
		h := &r.reads[i]
		require.EqualValues(r.t, nicspec.RequesterNic, h.RequesterID)
		require.Zero(r.t, [3]uint8{h.TC, uint8(h.Attr), 0})
		_, n := h.Span()
		bytes += n
		require.Less(r.t, h.Address-x.Base, uint64(256), fmt.Sprint("read of the ring: ", h))
	}
	require.Equal(r.t, 9*16*nicspec.RxDescBytes, bytes, "each descriptor is read exactly once")
}
