package simcore

import "github.com/sarchlab/akita/v3/sim"

// clock is any Scheduler, with a fast path if it is an *Engine. Links and tickers use it.
type clock struct {
	own   *Engine // sched, if it is an Engine
	sched Scheduler
}

func newClock(s Scheduler) clock {
	own, _ := s.(*Engine)
	return clock{own, s}
}

func (c *clock) now() Ps {
	if c.own != nil {
		return c.own.now
	}
	return c.foreignNow()
}

func (c *clock) foreignNow() Ps { return FromSec(c.sched.CurrentTime()) }

func (c *clock) nowSec() sim.VTimeInSec {
	if c.own != nil {
		return c.own.CurrentTime()
	}
	return c.sched.CurrentTime()
}

func (c *clock) schedule(ev *Event) {
	if c.own != nil {
		c.own.schedule(ev)
		return
	}
	c.sched.Schedule(ev)
}

// Clock is a Scheduler with a fast path to an *Engine, for components that read the time with every
// message. Events must be scheduled as *Event, not wrapped.
type Clock struct{ c clock }

// NewClock returns the clock of a scheduler.
func NewClock(s Scheduler) Clock { return Clock{newClock(s)} }

// Now returns the time of the current event.
func (c *Clock) Now() Ps { return c.c.now() }

// Sec returns Now in Akita's seconds.
func (c *Clock) Sec() sim.VTimeInSec { return c.c.nowSec() }

// Schedule schedules an event.
func (c *Clock) Schedule(ev *Event) { c.c.schedule(ev) }
