package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

// pauseKeptChecks have pauses meet what else there is: other pauses, a full buffer, levels that stay, a device at rest.
var pauseKeptChecks = []check{
	{"pause/stops of classes that follow one another", "F1 F3 F4", calm, classesFollow},
	{"pause/honoured though the buffer is full", "F2 R3", calm, pausedWhenFull},
	{"pause/sent until the buffer is at xon", "F6", calm, levelStays},
	{"pause/a stop alone keeps nothing busy", "F8 B8", calm, idleInAStop},
}

var pauseResetChecks = []check{{"function-level reset/in a stop, and its settings", "L3 L4 L5 F4", calm, resetInAStop}}

// classTimes is a priority pause that gives each class that it names a time of its own.
func classTimes(times map[int]uint16) []byte {
	rest := make([]uint16, 9)
	for i := range 8 {
		rest[1+i] = 0x2222 // of classes that are not named
		if t, ok := times[i]; ok {
			rest[0] |= 1 << i
			rest[1+i] = t
		}
	}
	return pauseFrame(nicspec.PfcOpcode, rest...)
}

// stopOf is a stop that is to hold: the frame that it is from, and its quanta; 0 for none.
type stopOf struct {
	frame  int
	quanta int64
}

// classesFollow has pauses of classes 5 and 2, and of the port, one after the other.
func classesFollow(r *rig) {
	type times = map[int]uint16
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	_, w := r.txSetup(9, 2)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 5 }
	x := r.openTx(1, 3)
	r.txMod = func(f *nicspec.TxqEntryFields) { f.PfcClass = 2 }
	y := r.openTx(2, 3)
	port := func(quanta uint16) []byte { return pauseFrame(nicspec.PauseOpcode, quanta) }
	for _, c := range []struct {
		name   string
		frames [][]byte
		five   stopOf
		two    stopOf
	}{
		{"a shorter time", [][]byte{classTimes(times{5: 60_000}), classTimes(times{5: 1200})}, stopOf{1, 1200}, stopOf{}},
		{"each its time", [][]byte{classTimes(times{5: 3000, 2: 1500})}, stopOf{0, 3000}, stopOf{0, 1500}},
		{"time 0", [][]byte{classTimes(times{5: 60_000, 2: 2000}), classTimes(times{5: 0})}, stopOf{}, stopOf{0, 2000}},
		{"another class", [][]byte{classTimes(times{5: 3000}), classTimes(times{2: 1200})}, stopOf{0, 3000}, stopOf{1, 1200}},
		{"the end of a stop of the port", [][]byte{classTimes(times{5: 3000}), port(60_000), port(0)}, stopOf{0, 3000}, stopOf{}},
		{"the end of a stop of a class", [][]byte{port(3000), classTimes(times{5: 0, 2: 0})}, stopOf{0, 3000}, stopOf{0, 3000}},
		{"a long time", [][]byte{classTimes(times{5: 20_000})}, stopOf{0, 20_000}, stopOf{}},
	} {
		r.quiet()
		p := r.pauses()
		r.play(c.frames...)
		r.until("the pauses are there", func() bool { return len(p.ins) == len(c.frames) })
		r.run(2 * nicspec.VisibleCycles)
		firstX, firstY := x.PI, y.PI
		postX, postY := r.enqueue(x, r.sound(w[0], 1)), r.enqueue(y, r.sound(w[1], 2))
		r.tell(&x.ring)
		r.tell(&y.ring)
		r.ended(y, firstY, postY)
		r.ended(x, firstX, postX)
		r.stoppedUntil(c.name, p, x.Number, c.five)
		r.stoppedUntil(c.name, p, y.Number, c.two)
		r.frames = nil
	}
	r.quiet()
	r.noFrames()
}

// stoppedUntil demands that a queue's only frame left after its stop, or soon if there is none.
func (r *rig) stoppedUntil(name string, p *pauseWatch, queue int, s stopOf) {
	r.t.Helper()
	if s.quanta > 0 {
		r.stopped(p, queue, p.ins[s.frame], s.quanta, fetchCycles)
		return
	}
	for _, c := range p.begins {
		if c.Port == queue {
			require.Less(r.t, c.First, p.ins[len(p.ins)-1]+1200, "%s: frame of queue %d, which no stop holds", name, queue)
		}
	}
}

// pausedWhenFull fills the receive buffer with frames, so that some are dropped, and has pauses come then.
func pausedWhenFull(r *rig) {
	const n = 90
	x := r.openRx(1, 8, nil)
	r.receiveAll(1)
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	before := r.counters()
	r.flood(x, n, 12_000)
	r.play(pauseFrame(nicspec.PauseOpcode, 9), classPause(0xff, 9), blob(1024, 1))
	r.played()
	require.Nil(r.t, r.next(&x.ring), "the buffer is still full")
	r.quiet()
	after := r.counters()
	step := func(c nicspec.PortCounter) uint64 { return after[port(c)] - before[port(c)] }
	require.Greater(r.t, step(nicspec.CntRxDropOverflow), uint64(1))
	require.EqualValues(r.t, n+1, step(nicspec.CntRxDropOverflow)+step(nicspec.CntRxDelivered))
	require.EqualValues(r.t, 2, step(nicspec.CntRxPause), "pauses are honoured before there is no room")
}

// levelStays has the level of the buffer fall in two steps: 14 of 20 frames leave when one read is answered, the rest when
// another is. It stays between xon and xoff, or at xon, meanwhile.
func levelStays(r *rig) {
	x := r.openRx(1, 8, nil)
	r.receiveAll(1)
	for _, xon := range []uint32{2048, 6 * 1024} {
		cfg := nicspec.PortEntryFields{TxMode: nicspec.PauseModePause, PauseTime: 1000, Xoff: 8192, Xon: xon}
		r.portCfg(cfg)
		first := r.ordinal()
		r.b.Faults.Clear()
		for step, n := range []int{14, 6} {
			at := x.At(x.PI)
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: at, To: at + 16, Delay: r.b.Cycles(4000 + 8000*step), Count: 1}))
			r.post(x, n)
			r.until("the descriptors are asked for", func() bool { return r.b.Faults.Hits() == step+1 })
			for i := range n {
				r.play(blob(1024, uint64(i)))
			}
		}
		for i := range 14 {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		ended := func() bool { return len(r.out) > 0 && be.Uint16(r.out[len(r.out)-1].data[16:]) == 0 }
		if xon != 2048 {
			r.until("the pause ends", ended)
			r.nothing(&x.ring)
		}
		for i := range 6 {
			r.delivered(x, first+14+i, nicspec.RuleNone)
		}
		r.quiet()
		require.True(r.t, ended())
		if xon == 2048 {
			require.Greater(r.t, len(r.out), int(9000/(500*r.quantum())), "pause frames in 12,000 cycles")
		}
		r.out = nil
	}
}

// idleInAStop has a device with nothing to do in a stop of its port and all classes, and then a frame that waits for its end.
func idleInAStop(r *rig) {
	const quanta = 40_000
	x, w := r.txSetup(3, 3)
	r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
	p := r.pauses()
	r.play(classPause(0xff, quanta), pauseFrame(nicspec.PauseOpcode, quanta))
	r.until("the pauses are there", func() bool { return len(p.ins) == 2 })
	r.busyFalls()
	require.Less(r.t, r.b.NIC.Cycles(), p.ins[0]+quanta*r.quantum(), "a stop makes nothing busy by itself")
	r.play(classPause(0xff, 0))
	r.until("the pause is there", func() bool { return len(p.ins) == 3 })
	r.run(nicspec.VisibleCycles)
	posts := r.enqueue(x, r.sound(w[0], 1))
	r.tell(&x.ring)
	r.synced()
	from := r.b.NIC.Cycles()
	r.run(4000)
	r.synced()
	require.Less(r.t, r.idleAt, from, "busy was 0 while a frame waited for the end of a stop")
	r.noFrames()
	r.play(pauseFrame(nicspec.PauseOpcode, 0))
	r.ended(x, 0, posts)
	require.Less(r.t, r.b.NIC.Cycles(), p.ins[0]+quanta*r.quantum())
	r.busyFalls()
	r.frames = nil
}

// resetInAStop resets while frames wait for the end of a long stop, and rules and pauses are set: none of it is in force then.
func resetInAStop(r *rig) {
	const quanta = 60_000
	for _, pause := range [][]byte{pauseFrame(nicspec.PauseOpcode, quanta), classPause(0xff, quanta)} {
		x, w := r.txSetup(3, 3)
		r.portCfg(nicspec.PortEntryFields{RxPause: 1, RxPfc: 0xff})
		r.rule(3, nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop})
		p := r.pauses()
		r.play(pause)
		r.until("the pause is there", func() bool { return len(p.ins) == 1 })
		r.enqueue(x, r.sound(w[0], 1), r.sound(w[0], 2))
		r.tell(&x.ring)
		r.run(1500)
		r.noFrames()
		r.reset()
		r.out, r.frames = nil, nil
		r.works(3)
		require.Less(r.t, r.b.NIC.Cycles(), p.ins[0]+quanta*r.quantum(), "the stop has ended with the reset")
		first := r.ordinal()
		r.play(pause)
		r.delivered(r.rx[3], first, nicspec.RuleNone) // PortCfg is as after reset: a frame as any other
		r.disable(nicspec.TableRxq, 3)
		r.disable(nicspec.TableTxq, 5)
	}
}
