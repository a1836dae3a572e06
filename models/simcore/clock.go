package simcore

import "github.com/sarchlab/akita/v3/sim"

// clock is an engine as links and tickers see it: any Scheduler, with a direct
// way to our own.
type clock struct {
	own   *Engine // sched, if it is ours
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
