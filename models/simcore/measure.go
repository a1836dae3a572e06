package simcore

import (
	"fmt"
	"math"
	"time"

	"github.com/sarchlab/akita/v3/sim"
)

// The measurements compare this package with Akita's own engine, ports and
// connection: the same work on both sides, turn and turn about, the least time
// of many slices. A slice takes about the same wall time on either side, so
// that a busy machine spoils neither side's more often. The measurements print
// nothing and judge nothing.

const measureTurns = 9

// MeasureEvents measures the time per event, in nanoseconds, with so many
// events pending: each event, reused, schedules itself again at a
// pseudo-random later time. It compares Engine with Akita's SerialEngine.
func MeasureEvents(pending int) (own, akita float64) {
	if pending < 1 {
		panic(fmt.Sprintf("simcore: MeasureEvents(%d): want at least 1", pending))
	}
	return measure(
		func() float64 { return ownEvents(pending, 80_000) },
		func() float64 { return akitaEvents(pending, 10_000) },
	)
}

// MeasureTwoHops measures the time per message, in nanoseconds, for a TLP-like
// message that a component in the middle forwards, so that it crosses two
// connections. It compares Engine, Port and Link with Akita's SerialEngine,
// LimitNumMsgPort and DirectConnection, under the same components.
func MeasureTwoHops() (own, akita float64) {
	return measure(
		func() float64 { return ownHops(30_000) },
		func() float64 { return akitaHops(3_000) },
	)
}

func measure(ours, theirs func() float64) (own, akita float64) {
	own, akita = math.Inf(1), math.Inf(1)
	for range measureTurns {
		own = min(own, ours())
		akita = min(akita, theirs())
	}
	return own, akita
}

const slicesPerTurn = 8

// stopwatch times slices of equally many units of work, the first of which
// warms up.
type stopwatch struct {
	left   int // units in this slice
	slice  int
	slices int
	start  time.Time
	best   time.Duration
}

func newStopwatch(slice int) stopwatch {
	return stopwatch{left: slice, slice: slice, best: math.MaxInt64}
}

// unit counts one unit of work and reports whether more is wanted.
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

// run runs an engine dry and returns the least time per unit, in nanoseconds.
func (w *stopwatch) run(e sim.Engine) float64 {
	if err := e.Run(); err != nil {
		panic(fmt.Sprintf("simcore: measurement: %v", err))
	}
	if w.slices <= slicesPerTurn {
		panic(fmt.Sprintf("simcore: measurement: it ended after %d of %d slices", w.slices, slicesPerTurn+1))
	}
	return float64(w.best.Nanoseconds()) / float64(w.slice)
}

// holdSteps yields the intervals of the event measurement, in picoseconds.
type holdSteps uint64

func (s *holdSteps) next() Ps {
	x := uint64(*s)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*s = holdSteps(x)
	return Ps(x&0xffff) + 1
}

const holdSeed = 0x9e3779b97f4a7c15

type ownHold struct {
	engine *Engine
	steps  holdSteps
	watch  stopwatch
	done   bool
}

func (h *ownHold) Handle(e sim.Event) error {
	if h.done || !h.watch.unit() {
		h.done = true
		return nil
	}
	ev := e.(*Event)
	ev.At += h.steps.next()
	h.engine.Schedule(ev)
	return nil
}

func ownEvents(pending, slice int) float64 {
	h := &ownHold{engine: NewEngine(), steps: holdSeed, watch: newStopwatch(slice)}
	for range pending {
		h.engine.Schedule(&Event{At: h.steps.next(), H: h})
	}
	return h.watch.run(h.engine)
}

// akitaEvent is as cheap as an event for Akita can be.
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
