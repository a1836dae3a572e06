package simcore

import (
	"fmt"
	"math"
	"time"

	"github.com/sarchlab/akita/v3/sim"
)

// The measurements compare this package with Akita's own engine, ports and
// connection: the same work on both sides, turn and turn about, the least time
// of several turns. They print nothing and decide nothing.

const measureTurns = 9

// MeasureEvents measures the time per event, in nanoseconds, with so many
// events pending: each event, reused, schedules itself again at a
// pseudo-random later time. It compares Engine with Akita's SerialEngine.
func MeasureEvents(pending int) (own, akita float64) {
	if pending < 1 {
		panic(fmt.Sprintf("simcore: MeasureEvents(%d): want at least 1", pending))
	}
	events := max(200_000, 20*pending)
	return measure(
		func() float64 { return ownEvents(pending, events) },
		func() float64 { return akitaEvents(pending, events) },
	)
}

// MeasureTwoHops measures the time per message, in nanoseconds, for a TLP-like
// message that a component in the middle forwards, so that it crosses two
// connections. It compares Engine, Port and Link with Akita's SerialEngine,
// LimitNumMsgPort and DirectConnection, under the same components.
func MeasureTwoHops() (own, akita float64) {
	return measure(
		func() float64 { return ownHops(hopMsgs) },
		func() float64 { return akitaHops(hopMsgs) },
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
	left   int
}

func (h *ownHold) Handle(e sim.Event) error {
	if h.left--; h.left < 0 {
		return nil
	}
	ev := e.(*Event)
	ev.At += h.steps.next()
	h.engine.Schedule(ev)
	return nil
}

func ownEvents(pending, events int) float64 {
	h := &ownHold{engine: NewEngine(), steps: holdSeed, left: events}
	for range pending {
		h.engine.Schedule(&Event{At: h.steps.next(), H: h})
	}
	return runTime(h.engine, events+pending)
}

type akitaHold struct {
	engine sim.Engine
	steps  holdSteps
	left   int
}

// akitaEvent is as cheap as an event for Akita can be.
type akitaEvent struct {
	at sim.VTimeInSec
	h  sim.Handler
}

func (e *akitaEvent) Time() sim.VTimeInSec { return e.at }
func (e *akitaEvent) Handler() sim.Handler { return e.h }
func (e *akitaEvent) IsSecondary() bool    { return false }

func (h *akitaHold) Handle(e sim.Event) error {
	if h.left--; h.left < 0 {
		return nil
	}
	ev := e.(*akitaEvent)
	ev.at += sim.VTimeInSec(h.steps.next()) * 1e-12
	h.engine.Schedule(ev)
	return nil
}

func akitaEvents(pending, events int) float64 {
	h := &akitaHold{engine: sim.NewSerialEngine(), steps: holdSeed, left: events}
	for range pending {
		h.engine.Schedule(&akitaEvent{at: sim.VTimeInSec(h.steps.next()) * 1e-12, h: h})
	}
	return runTime(h.engine, events+pending)
}

// runTime runs the engine dry and divides the wall time by the number of units
// of work.
func runTime(e sim.Engine, units int) float64 {
	start := time.Now()
	if err := e.Run(); err != nil {
		panic(fmt.Sprintf("simcore: measurement: %v", err))
	}
	return float64(time.Since(start).Nanoseconds()) / float64(units)
}
