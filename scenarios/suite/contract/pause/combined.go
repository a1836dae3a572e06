package pause

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/reset"
)

// CombinedChecks combine pauses with other pauses, a full buffer, buffer levels that stay between the limits, and an
// idle device.
var CombinedChecks = []kit.Check{
	{Name: "pause/stops of classes that follow one another", Rules: "F1 F3 F4", Stalls: kit.Calm, Run: classesFollow},
	{Name: "pause/honoured though the buffer is full", Rules: "F2 R3", Stalls: kit.Calm, Run: pausedWhenFull},
	{Name: "pause/sent until the buffer is at xon", Rules: "F6", Stalls: kit.Calm, Run: levelStays},
	{Name: "pause/a stop alone keeps nothing busy", Rules: "F8 B8", Stalls: kit.Calm, Run: idleInAStop},
}

// ResetChecks reset the device during a stop.
var ResetChecks = []kit.Check{{Name: "function-level reset/in a stop, and its settings", Rules: "L3 L4 L5 F4",
	Stalls: kit.Calm, Run: resetInAStop}}

// classTimes returns a priority pause that stops each of the given classes for its own time.
func classTimes(times map[int]uint16) []byte {
	rest := make([]uint16, 9)
	for i := range 8 {
		rest[1+i] = 0x2222 // ignored for classes that the vector does not select
		if t, ok := times[i]; ok {
			rest[0] |= 1 << i
			rest[1+i] = t
		}
	}
	return pauseFrame(nicspec.PfcOpcode, rest...)
}

// stopOf is the stop that a queue is expected to see: the index of the pause frame that causes it, and its length in
// pause quanta; length 0: no stop.
type stopOf struct {
	frame  int
	quanta int64
}

// classesFollow sends pauses of class 5, of class 2 and of the whole port, one after the other.
func classesFollow(r *kit.Rig) {
	type times = map[int]uint16
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	_, w := r.TxSetup(9, 2)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 5 }
	x := r.OpenTx(1, 3)
	r.TxMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 2 }
	y := r.OpenTx(2, 3)
	port := func(quanta uint16) []byte { return pauseFrame(nicspec.PauseOpcode, quanta) }
	for _, c := range []struct {
		name   string
		frames [][]byte
		five   stopOf
		two    stopOf
	}{
		{"a shorter time", [][]byte{classTimes(times{5: 60_000}), classTimes(times{5: 1200})}, stopOf{1, 1200},
			stopOf{}},
		{"each its time", [][]byte{classTimes(times{5: 3000, 2: 1500})}, stopOf{0, 3000}, stopOf{0, 1500}},
		{"time 0", [][]byte{classTimes(times{5: 60_000, 2: 2000}), classTimes(times{5: 0})}, stopOf{}, stopOf{0, 2000}},
		{"another class", [][]byte{classTimes(times{5: 3000}), classTimes(times{2: 1200})}, stopOf{0, 3000},
			stopOf{1, 1200}},
		{"the end of a stop of the port", [][]byte{classTimes(times{5: 3000}), port(60_000), port(0)}, stopOf{0, 3000},
			stopOf{}},
		{"the end of a stop of a class", [][]byte{port(3000), classTimes(times{5: 0, 2: 0})}, stopOf{0, 3000},
			stopOf{0, 3000}},
		{"a long time", [][]byte{classTimes(times{5: 20_000})}, stopOf{0, 20_000}, stopOf{}},
	} {
		r.Quiet()
		p := Pauses(r)
		r.Play(c.frames...)
		r.Until("the pauses have come in", func() bool { return len(p.Ins) == len(c.frames) })
		r.Run(2 * nicspec.VisibleCycles)
		firstX, firstY := x.PI, y.PI
		postX, postY := r.Enqueue(x, r.Sound(w[0], 1)), r.Enqueue(y, r.Sound(w[1], 2))
		r.RingDoorbell(&x.Ring)
		r.RingDoorbell(&y.Ring)
		r.Ended(y, firstY, postY)
		r.Ended(x, firstX, postX)
		stoppedUntil(r, c.name, p, x.Number, c.five)
		stoppedUntil(r, c.name, p, y.Number, c.two)
		r.Frames = nil
	}
	r.Quiet()
	r.NoFrames()
}

// stoppedUntil checks when the only frame of a queue left: soon after the end of its stop or, if it has none, soon
// after it was posted.
func stoppedUntil(r *kit.Rig, name string, p *pauseWatch, queue int, s stopOf) {
	r.T.Helper()
	if s.quanta > 0 {
		stopped(r, p, queue, p.Ins[s.frame], s.quanta, fetchCycles)
		return
	}
	for _, c := range p.Begins {
		if c.Port == queue {
			require.Less(r.T, c.First, p.Ins[len(p.Ins)-1]+1200, "%s: frame of queue %d, which no stop holds", name,
				queue)
		}
	}
}

// pausedWhenFull fills the receive buffer until frames are dropped, and then sends pauses.
func pausedWhenFull(r *kit.Rig) {
	const n = 90
	x := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	before := r.Counters()
	flood(r, x, n, 12_000)
	r.Play(pauseFrame(nicspec.PauseOpcode, 9), ClassPause(0xff, 9), kit.Blob(1024, 1))
	r.Played()
	require.Nil(r.T, r.Next(&x.Ring), "no frame is delivered yet: the buffer is full")
	r.Quiet()
	after := r.Counters()
	step := func(c nicspec.PortCounter) uint64 { return after[kit.PortCounter(c)] - before[kit.PortCounter(c)] }
	require.Greater(r.T, step(nicspec.CntRxDropOverflow), uint64(1))
	require.EqualValues(r.T, n+1, step(nicspec.CntRxDropOverflow)+step(nicspec.CntRxDelivered))
	require.EqualValues(r.T, 2, step(nicspec.CntRxPause), "pauses are honoured though the buffer is full")
}

// levelStays lets the level of the buffer fall in two steps: 14 of 20 frames leave when one read is answered, the
// others when a second is. Between the steps the level stays between xon and xoff, or at xon.
func levelStays(r *kit.Rig) {
	x := r.OpenRx(1, 8, nil)
	r.ReceiveAll(1)
	for _, xon := range []uint32{2048, 6 * 1024} {
		cfg := nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 1000, Xoff: 8192, Xon: xon}
		PortCfg(r, cfg)
		first := r.Ordinal()
		r.Bed.Faults.Clear()
		for step, n := range []int{14, 6} {
			at := x.At(x.PI)
			require.NoError(r.T,
				r.Bed.Faults.Add(inject.Fault{From: at, To: at + 16, Delay: r.Bed.Cycles(4000 + 8000*step), Count: 1}))
			r.Post(x, n)
			r.Until("the descriptors are asked for", func() bool { return r.Bed.Faults.Hits() == step+1 })
			for i := range n {
				r.Play(kit.Blob(1024, uint64(i)))
			}
		}
		for i := range 14 {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		ended := func() bool { return len(r.Out) > 0 && kit.BigEndian.Uint16(r.Out[len(r.Out)-1].Data[16:]) == 0 }
		if xon != 2048 {
			r.Until("the pause ends", ended)
			r.Nothing(&x.Ring)
		}
		for i := range 6 {
			r.Delivered(x, first+14+i, nicspec.RuleNone)
		}
		r.Quiet()
		require.True(r.T, ended())
		if xon == 2048 {
			require.Greater(r.T, len(r.Out), int(9000/(500*Quantum(r))), "pause frames in 12,000 cycles")
		}
		r.Out = nil
	}
}

// idleInAStop stops the port and all classes while the device is idle, and then posts a frame, which must wait for the
// end of the stop.
func idleInAStop(r *kit.Rig) {
	const quanta = 40_000
	x, w := r.TxSetup(3, 3)
	PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	p := Pauses(r)
	r.Play(ClassPause(0xff, quanta), pauseFrame(nicspec.PauseOpcode, quanta))
	r.Until("the pauses have come in", func() bool { return len(p.Ins) == 2 })
	r.BusyFalls()
	require.Less(r.T, r.Bed.NIC.Cycles(), p.Ins[0]+quanta*Quantum(r), "a stop alone does not make the device busy")
	r.Play(ClassPause(0xff, 0))
	r.Until("the pause has come in", func() bool { return len(p.Ins) == 3 })
	r.Run(nicspec.VisibleCycles)
	posts := r.Enqueue(x, r.Sound(w[0], 1))
	r.RingDoorbell(&x.Ring)
	r.Synced()
	from := r.Bed.NIC.Cycles()
	r.Run(4000)
	r.Synced()
	require.Less(r.T, r.IdleAt, from, "busy was 0 while a frame waited for the end of a stop")
	r.NoFrames()
	r.Play(pauseFrame(nicspec.PauseOpcode, 0))
	r.Ended(x, 0, posts)
	require.Less(r.T, r.Bed.NIC.Cycles(), p.Ins[0]+quanta*Quantum(r))
	r.BusyFalls()
	r.Frames = nil
}

// resetInAStop resets the device while frames wait for the end of a long stop, with rules and pauses set. After the
// reset none of these may have an effect.
func resetInAStop(r *kit.Rig) {
	const quanta = 60_000
	for _, pause := range [][]byte{pauseFrame(nicspec.PauseOpcode, quanta), ClassPause(0xff, quanta)} {
		x, w := r.TxSetup(3, 3)
		PortCfg(r, nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
		r.Rule(3, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop})
		p := Pauses(r)
		r.Play(pause)
		r.Until("the pause has come in", func() bool { return len(p.Ins) == 1 })
		r.Enqueue(x, r.Sound(w[0], 1), r.Sound(w[0], 2))
		r.RingDoorbell(&x.Ring)
		r.Run(1500)
		r.NoFrames()
		reset.Reset(r)
		r.Out, r.Frames = nil, nil
		reset.Works(r, 3)
		require.Less(r.T, r.Bed.NIC.Cycles(), p.Ins[0]+quanta*Quantum(r), "the stop has ended with the reset")
		first := r.Ordinal()
		r.Play(pause)
		r.Delivered(r.Rx[3], first, nicspec.RuleNone) // PortCfg is reset, so a pause is a frame like any other
		r.Disable(nicspec.TableRxq, 3)
		r.Disable(nicspec.TableTxq, 5)
	}
}
