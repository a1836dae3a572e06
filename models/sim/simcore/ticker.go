package simcore

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// TickFunc does one cycle's work and reports whether it made progress. Without
// progress the ticker sleeps until it is woken.
type TickFunc func(now Ps) (progress bool, err error)

// Ticker calls a TickFunc at the edges of a clock while there is work. Its
// events are primary, so that a tick sees what links delivered at earlier
// times and nothing of its own instant.
type Ticker struct {
	name  string
	clock clock
	freq  Freq
	tick  TickFunc
	event Event
	armed bool
	last  Ps // the edge of the latest tick, -1 before the first
}

// NewTicker makes a sleeping ticker; name appears in errors and traces. It
// panics if the period is negative.
func NewTicker(name string, s Scheduler, f Freq, tick TickFunc) *Ticker {
	if err := f.Validate(); err != nil {
		panic(fmt.Sprintf("simcore: ticker %s: %v", name, err))
	}
	t := &Ticker{name: name, clock: newClock(s), freq: Freq{f.Period()}, tick: tick, last: -1}
	t.event.H = t
	return t
}

// Name returns the ticker's name.
func (t *Ticker) Name() string { return t.name }

// Freq returns the ticker's clock.
func (t *Ticker) Freq() Freq { return t.freq }

// TickLater wakes the ticker for the first edge strictly after now. It does
// nothing if the ticker is awake.
func (t *Ticker) TickLater() {
	if t.armed {
		return
	}
	now := t.clock.now()
	if t.last >= 0 && now-t.last < t.freq.PeriodPs {
		t.arm(t.last + t.freq.PeriodPs)
		return
	}
	t.arm(t.freq.Next(now))
}

func (t *Ticker) arm(at Ps) {
	t.armed = true
	t.event.At = at
	t.clock.schedule(&t.event)
}

// Handle implements sim.Handler.
func (t *Ticker) Handle(sim.Event) error {
	now := t.event.At
	t.armed = false
	t.last = now
	progress, err := t.tick(now)
	if err != nil {
		return err
	}
	if progress && !t.armed {
		t.arm(now + t.freq.PeriodPs)
	}
	return nil
}

// TickingComponent is the base of a component that works in clock cycles:
// embed it, and it ticks after every message and every credit.
type TickingComponent struct {
	*sim.ComponentBase
	*Ticker
}

// NewTickingComponent makes the base of a component; it sleeps until TickLater
// or the first message. It panics if Akita does not accept the name.
func NewTickingComponent(name string, s Scheduler, f Freq, tick TickFunc) *TickingComponent {
	return &TickingComponent{
		ComponentBase: sim.NewComponentBase(name),
		Ticker:        NewTicker(name, s, f, tick),
	}
}

// Name implements sim.Named.
func (c *TickingComponent) Name() string { return c.Ticker.Name() }

// NotifyRecv implements sim.Component.
func (c *TickingComponent) NotifyRecv(sim.VTimeInSec, sim.Port) { c.TickLater() }

// NotifyPortFree implements sim.Component.
func (c *TickingComponent) NotifyPortFree(sim.VTimeInSec, sim.Port) { c.TickLater() }

var (
	_ sim.Handler   = (*Ticker)(nil)
	_ sim.Component = (*TickingComponent)(nil)
)
