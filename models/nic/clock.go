package nic

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// patience bounds how long the component sleeps while reads are outstanding:
// [P6] lets a timeout come up to 1,024 cycles late.
const patience = 512

// until reports whether a cycle has come. If not, it schedules the component for that cycle.
func (c *Comp) until(cycle int64) bool {
	if cycle <= c.now {
		return true
	}
	c.due = min(c.due, cycle)
	return false
}

func (c *Comp) time() simcore.Ps { return simcore.Ps(c.now) * c.period }

// NotifyRecv implements sim.Component: a message has arrived.
func (c *Comp) NotifyRecv(_ sim.VTimeInSec, p sim.Port) {
	if p != c.pcie {
		c.rx.quiet = false
	}
	c.wakeNext()
}

// NotifyPortFree implements sim.Component: a port that refused a message can send again.
func (c *Comp) NotifyPortFree(sim.VTimeInSec, sim.Port) { c.wakeNext() }

// wakeNext arms the first edge strictly after now.
func (c *Comp) wakeNext() { c.wake(int64(simcore.Now(c.sched)/c.period) + 1) }

// wake schedules the component for a cycle, if it is not already scheduled by then.
func (c *Comp) wake(cycle int64) {
	if c.live > 0 && c.armed <= cycle && c.armed > c.last {
		return
	}
	ev := c.events.Get()
	ev.At, ev.H = simcore.Ps(cycle)*c.period, c
	c.sched.Schedule(ev)
	c.armed = cycle
	c.beat = max(c.beat, cycle)
	c.live++
}
