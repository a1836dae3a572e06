// Package akita measures the engine, ports, links and switch against Akita's own: the same work on both sides,
// alternately, the least time of many slices. A slice takes about the same wall time on either side, so that a
// busy machine disturbs both sides equally. The measurements print nothing and judge nothing.
package akita

import (
	"fmt"
	"math"
	"time"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

const measureTurns = 9

// Events measures the time per event, in nanoseconds, with the given number of events pending: each event,
// reused, schedules itself again at a pseudo-random later time. It compares simcore.Engine with Akita's
// SerialEngine.
func Events(pending int) (own, theirs float64) {
	if pending < 1 {
		panic(fmt.Sprintf("akita: Events(%d): want at least 1", pending))
	}
	return measure(
		func() float64 { return ownEvents(pending, 80_000) },
		func() float64 { return akitaEvents(pending, 10_000) },
	)
}

// TwoHops measures the time per message, in nanoseconds, for a TLP-like
// message that a component in the middle forwards, so that it crosses two
// connections. It compares simcore's Engine, Port and Link with Akita's SerialEngine,
// LimitNumMsgPort and DirectConnection, under the same components.
func TwoHops() (own, theirs float64) {
	return measure(
		func() float64 { return ownHops(30_000) },
		func() float64 { return akitaHops(3_000) },
	)
}

func measure(ours, akitas func() float64) (own, theirs float64) {
	own, theirs = math.Inf(1), math.Inf(1)
	for range measureTurns {
		own = min(own, ours())
		theirs = min(theirs, akitas())
	}
	return own, theirs
}

const slicesPerTurn = 8

// stopwatch times slices of equally many units of work. The first slice warms up.
type stopwatch struct {
	left   int // units left in this slice
	slice  int
	slices int
	start  time.Time
	best   time.Duration
}

func newStopwatch(slice int) stopwatch {
	return stopwatch{left: slice, slice: slice, best: math.MaxInt64}
}

// unit counts one unit of work and reports whether the measurement goes on.
func (w *stopwatch) unit() bool {
	w.left--
	return w.left > 0 || w.lap()
}

func (w *stopwatch) lap() bool {
	now := time.Now()
	if w.slices > 0 {
		w.best = min(w.best, now.Sub(w.start))
	}
	w.start, w.left = now, w.slice
	w.slices++
	return w.slices <= slicesPerTurn
}

// run runs an engine until it has no more events, and returns the least time per unit, in nanoseconds.
func (w *stopwatch) run(e sim.Engine) float64 {
	if err := e.Run(); err != nil {
		panic(fmt.Sprintf("akita: measurement: %v", err))
	}
	if w.slices <= slicesPerTurn {
		panic(fmt.Sprintf("akita: measurement: it ended after %d of %d slices", w.slices, slicesPerTurn+1))
	}
	return float64(w.best.Nanoseconds()) / float64(w.slice)
}

// holdSteps generates the intervals of the event measurement, in picoseconds.
type holdSteps uint64

func (s *holdSteps) next() simcore.Ps {
	x := uint64(*s)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*s = holdSteps(x)
	return simcore.Ps(x&0xffff) + 1
}

const holdSeed = 0x9e3779b97f4a7c15

type ownHold struct {
	engine *simcore.Engine
	steps  holdSteps
	watch  stopwatch
	done   bool
}

func (h *ownHold) Handle(e sim.Event) error {
	if h.done || !h.watch.unit() {
		h.done = true
		return nil
	}
	ev := e.(*simcore.Event)
	ev.At += h.steps.next()
	h.engine.Schedule(ev)
	return nil
}

func ownEvents(pending, slice int) float64 {
	h := &ownHold{engine: simcore.NewEngine(), steps: holdSeed, watch: newStopwatch(slice)}
	for range pending {
		h.engine.Schedule(&simcore.Event{At: h.steps.next(), H: h})
	}
	return h.watch.run(h.engine)
}

// akitaEvent is the cheapest event that Akita's engine accepts.
type akitaEvent struct {
	at sim.VTimeInSec
	h  sim.Handler
}

func (e *akitaEvent) Time() sim.VTimeInSec { return e.at }
func (e *akitaEvent) Handler() sim.Handler { return e.h }
func (e *akitaEvent) IsSecondary() bool    { return false }

type akitaHold struct {
	engine *sim.SerialEngine
	steps  holdSteps
	watch  stopwatch
	done   bool
}

func (h *akitaHold) Handle(e sim.Event) error {
	if h.done || !h.watch.unit() {
		h.done = true
		return nil
	}
	ev := e.(*akitaEvent)
	ev.at += sim.VTimeInSec(h.steps.next()) * 1e-12
	h.engine.Schedule(ev)
	return nil
}

func akitaEvents(pending, slice int) float64 {
	h := &akitaHold{engine: sim.NewSerialEngine(), steps: holdSeed, watch: newStopwatch(slice)}
	for range pending {
		h.engine.Schedule(&akitaEvent{at: sim.VTimeInSec(h.steps.next()) * 1e-12, h: h})
	}
	return h.watch.run(h.engine)
}
