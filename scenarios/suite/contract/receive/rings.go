package receive

import (
	"fmt"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// RxRingChecks fill and wrap receive rings.
var RxRingChecks = []kit.Check{
	{Name: "rings/laps of tiny rings", Rules: "Q1 Q7 Q8 R10 R11", Stalls: kit.Stalled, Run: tinyRings},
	{Name: "rings/every size", Rules: "Q1 Q6 Q8", Stalls: kit.Calm, Run: everySize},
	{Name: "rings/indices beyond 65535", Rules: "Q1 Q2 Q8", Stalls: kit.Calm, Run: rxIndicesWrap},
	{Name: "rings/all receive queues", Rules: "R7 R10 R11 C1", Stalls: kit.Stalled, Run: allRxQueues},
	{Name: "rings/doorbells while frames come", Rules: "R9 Q2 Q3", Stalls: kit.Stalled, Run: lateDoorbells},
	{Name: "rings/disabled and enabled again", Rules: "Q5 Q8 G6", Stalls: kit.Stalled, Run: rxAgain},
	{Name: "rings/disabled under traffic", Rules: "Q5 R12 G7", Stalls: kit.Stalled, Run: rxUnderTraffic},
	{Name: "rings/buffers are used once", Rules: "R10 C2", Stalls: kit.Calm, Run: usedOnce},
	{Name: "rings/descriptors are read once", Rules: "Q3 P2", Stalls: kit.Calm, Run: descriptorsOnce},
}

func tinyRings(r *kit.Rig) {
	x := r.OpenRx(1, 2, func(f *nicspec.RxqEntryFields) { f.SplitMode = nicspec.SplitModeHeaders })
	r.ReceiveAll(1)
	for lap := range 60 {
		n := 1 + lap%4
		first := r.Ordinal()
		r.Post(x, n)
		for i := range n {
			r.Play(kit.FrameOf(60 + lap*29%1500 + i))
		}
		for i := range n {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		r.Nothing(&x.Ring)
	}
}

func everySize(r *kit.Rig) {
	r.ReceiveAll(0)
	for log := nicspec.LogSizeMin; log <= nicspec.LogSizeMax; log++ {
		if log == 8 {
			r.Free[0] = 1 << 36 // addresses of Arm memory above 4 GB, which need headers of four DWs
		}
		x := r.OpenRx(log, log, nil)
		r.ToQueue(log)
		r.Synced()
		n := min(x.Size(), 40)
		for range 2 {
			first := r.Ordinal()
			r.Post(x, n)
			for i := range n {
				r.Play(kit.Blob(60+i, uint64(log)))
			}
			for i := range n {
				r.Delivered(x, first+i, nicspec.RuleNone)
			}
		}
		e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, log))
		require.Equal(r.T, [3]int{2 * n, 2 * n, 2 * n}, [3]int{int(e.Pi), int(e.Ci), int(e.Cqi)},
			"indices stay readable")
	}
}

// rxIndicesWrap delivers more than 65,536 frames, so that indices wrap.
func rxIndicesWrap(r *kit.Rig) {
	const log, total = 12, 1<<16 + 300
	x := r.OpenRx(2, log, nil)
	r.ReceiveAll(2)
	h, p := r.Buffers(0, 0)
	f := kit.Blob(256, 1) // frames of this size are delivered at line rate [C4]
	for done := 0; done < total; {
		n := min(x.Size(), total-done)
		for range n {
			r.Put(x, h, p) // several descriptors may use the same buffer
		}
		r.RingDoorbell(&x.Ring)
		first := r.Ordinal()
		for range n {
			r.Play(f)
		}
		for i := range n {
			got := r.RxCqe(x)
			require.Equal(r.T, uint16(done+i), got.Index())
			require.Equal(r.T, uint32(first+i), got.PortSeq())
		}
		done += n
	}
	r.Nothing(&x.Ring)
	e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 2))
	require.EqualValues(r.T, total%(1<<16), e.Ci)
	require.EqualValues(r.T, total%(1<<16), e.Cqi)
}

func allRxQueues(r *kit.Rig) {
	n := min(r.Sizes.NumRxq, r.Sizes.NumRules)
	var queues []int
	for q := range n {
		queues = append(queues, q)
		x := r.OpenRx(q, 2+q%4, func(f *nicspec.RxqEntryFields) {
			f.SplitMode, f.SplitLen = nicspec.SplitMode(q%3), uint16(q*3)
		})
		r.Post(x, 4)
	}
	r.ByDest(queues...)
	r.ReceiveAll(0)
	rng := rand.New(rand.NewPCG(4, 4))
	first := r.Ordinal()
	var order []int
	for range 4 {
		for _, q := range rng.Perm(n) {
			order = append(order, q)
			r.Play(kit.FrameTo(q, kit.FrameOf(60+rng.IntN(700))))
		}
	}
	for i, q := range order {
		r.Delivered(r.Rx[q], first+i, uint16(q))
	}
}

// lateDoorbells posts descriptors one by one while frames arrive, sometimes too late for a frame.
func lateDoorbells(r *kit.Rig) {
	x := r.OpenRx(1, 3, nil)
	r.ReceiveAll(1)
	rng := rand.New(rand.NewPCG(8, 1))
	for range 150 {
		for range rng.IntN(4) {
			r.Play(kit.Blob(60+rng.IntN(300), 1))
		}
		used := int(x.CQI)
		for range min(rng.IntN(4), x.Size()-(len(x.Posted)-used)) {
			h, p := r.Buffers(0, 1)
			r.Put(x, h, p)
		}
		r.RingDoorbell(&x.Ring)
		r.Run(rng.IntN(60))
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			require.Equal(r.T, uint16(used), nicspec.RxCqe(e).Index())
			used++
		}
	}
	r.Quiet()
	c := r.Counters()
	require.EqualValues(r.T, r.Ordinal(),
		c[kit.PortCounter(nicspec.CntRxDelivered)]+c[kit.PortCounter(nicspec.CntRxDropNoDesc)])
	require.NotZero(r.T, c[kit.PortCounter(nicspec.CntRxDelivered)])
}

func rxAgain(r *kit.Rig) {
	r.ReceiveAll(5)
	for lap := range 6 {
		x := r.OpenRx(5, 2+lap%3, nil)
		n := 3 + lap%2
		for turn := range 2 {
			first := r.Ordinal()
			r.Post(x, n)
			for i := range n - turn {
				r.Play(kit.Blob(60+i+lap, uint64(lap)))
			}
			for i := range n - turn {
				r.Delivered(x, first+i, nicspec.RuleNone)
			}
		}
		// The queue's posted descriptor is discarded.
		r.Counted("disabling counts nothing", nil, func() { r.Disable(nicspec.TableRxq, 5) })
		e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 5))
		require.Equal(r.T, nicspec.RxqEntryFields{Pi: uint16(2 * n), Ci: uint16(2*n - 1), Cqi: uint16(2*n - 1)}, e,
			"indices stay readable")
	}
}

// rxUnderTraffic disables a queue while frames arrive for it and for another queue, which must not be affected.
func rxUnderTraffic(r *kit.Rig) {
	other := r.OpenRx(1, 9, nil)
	r.ByDest(1, 2)
	r.ReceiveAll(1)
	r.Post(other, 480)
	var mine []int
	for lap := range 12 {
		x := r.OpenRx(2, 5, func(f *nicspec.RxqEntryFields) { f.SplitMode, f.SplitLen = nicspec.SplitModeFixed, 40 })
		r.Post(x, 32)
		for i := range 40 {
			mine = append(mine, r.Ordinal())
			r.Play(kit.FrameTo(1, kit.Blob(60+i*7, uint64(i))), kit.FrameTo(2, kit.Blob(1500-i*11, uint64(i))))
		}
		r.Run(50 + 90*lap)
		r.Disable(nicspec.TableRxq, 2)
		n := x.CQI
		for e := r.Next(&x.Ring); e != nil; e = r.Next(&x.Ring) {
			n++
		}
		r.Run(300)
		r.Nothing(&x.Ring) // busy is 0: nothing may be written after that
		e := nicspec.DecodeRxqEntry(r.Entry(nicspec.TableRxq, 2))
		require.Equal(r.T, [2]uint16{n, n}, [2]uint16{e.Ci, e.Cqi})
		require.Equal(r.T, nicspec.QueueStateOff, e.State)
		r.Played()
	}
	for _, ordinal := range mine {
		r.Delivered(other, ordinal, 0)
	}
}

// usedOnce posts descriptors that all name the same buffer, and checks that the device writes nothing around it.
func usedOnce(r *kit.Rig) {
	x := r.OpenRx(3, 3, func(f *nicspec.RxqEntryFields) {
		f.SplitMode, f.SplitLen, f.HdrBufSize = nicspec.SplitModeFixed, 20, 20
	})
	r.ReceiveAll(3)
	around := r.Alloc(nicspec.EndpointArm, 4096, 4096)
	for i := range 64 {
		mark := kit.Pattern(1024, uint64(i))
		r.Store(around, mark)
		n := 60 + i
		h, p := around+100+uint64(i%9), around+300+uint64(i%7)
		r.Put(x, h, p)
		r.RingDoorbell(&x.Ring)
		r.Play(kit.Blob(n, 9))
		r.Delivered(x, r.Ordinal()-1, nicspec.RuleNone)
		want := append([]byte(nil), mark...)
		copy(want[h-around:], kit.Blob(n, 9)[:20])
		copy(want[p-around:], kit.Blob(n, 9)[20:])
		require.Equal(r.T, want, r.Load(around, 1024), "bytes around the buffer")
	}
}

func descriptorsOnce(r *kit.Rig) {
	r.Keep = true
	x := r.OpenRx(3, 4, nil)
	r.ReceiveAll(3)
	for range 9 {
		first := r.Ordinal()
		r.Post(x, 16)
		for i := range 16 {
			r.Play(kit.Blob(60+i, 1))
		}
		for i := range 16 {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
	}
	bytes := 0
	for i := range r.Reads {
		h := &r.Reads[i]
		require.EqualValues(r.T, nicspec.RequesterNic, h.RequesterID)
		require.Zero(r.T, [3]uint8{h.TC, uint8(h.Attr), 0})
		_, n := h.Span()
		bytes += n
		require.Less(r.T, h.Address-x.Base, uint64(256), fmt.Sprint("read of the ring: ", h))
	}
	require.Equal(r.T, 9*16*nicspec.RxDescBytes, bytes, "each descriptor is read exactly once")
}
