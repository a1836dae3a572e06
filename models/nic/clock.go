package nic

import (
	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// patience bounds the cycles for which the component sleeps while reads are outstanding: [P6] lets
// a timeout come up to 1,024 cycles late.
const patience = 512

// reached reports whether a cycle has come. If it has not, the component is woken in that cycle or earlier.
func (c *Comp) reached(cycle int64) bool {
	c.wakeBy(cycle)
	return cycle <= c.now
}

// wakeBy makes the component work again in the given cycle or earlier. It ignores cycles up to the
// current one.
func (c *Comp) wakeBy(cycle int64) {
	if cycle > c.now {
		c.due = min(c.due, cycle)
	}
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
	if c.pending > 0 && c.armed <= cycle && c.armed > c.last {
		return
	}
	ev := c.events.Get()
	ev.At, ev.H = simcore.Ps(cycle)*c.period, c
	c.sched.Schedule(ev)
	c.armed = cycle
	c.latest = max(c.latest, cycle)
	c.pending++
}
