package nic

import (
	"math"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Comp is the timed NIC. It ticks in clock cycles while there is work, moves one beat a cycle on
// each stream and direction, and calls package core to decode and judge what it moves.
type Comp struct {
	*sim.ComponentBase

	spec   Spec
	sched  simcore.Scheduler
	period simcore.Ps
	pcie   *simcore.Port
	eth    []*simcore.Port
	frames *msg.Frames
	tlps   *msg.TLPs
	obs    []boundary.Observer
	rests  []boundary.RestObserver
	helds  []boundary.HeldObserver

	regs     *core.Regs
	reader   *core.Reader
	limits   tlp.Limits // as set by DEVCTL
	attr     tlp.Attr   // attributes of requests for frame and copy data, set by DEVCTL
	limitsTx core.TxLimits
	timeout  int64        // as set by CPL_TIMEOUT
	outcome  core.Outcome // outcome of the register request being carried out

	readPool []*core.Read
	drainRx  bool // the table command being carried out disables receive queue drainQ, else transmit queue drainQ
	drainQ   int

	in  tlpIn
	out tlpOut
	rx  rxPath
	tx  txPath

	msix msixSender
	flr  flrState

	now   int64 // current cycle
	last  int64 // latest cycle in which the NIC worked, -1 before the first
	rest  int64 // busy is 0 from this cycle on; Never while it is 1; maintained only with observers
	moved bool  // something happened in this cycle
	due   int64 // earliest later cycle in which something is due

	events  simcore.EventPool
	armed   int64 // earliest cycle for which an event is known to be pending
	latest  int64 // latest cycle for which an event was scheduled
	pending int   // number of events pending
}

// Cycle returns the latest cycle in which the NIC worked, -1 before the first.
func (c *Comp) Cycle() int64 { return c.last }

// Spec returns the spec that the component was built from.
func (c *Comp) Spec() Spec { return c.spec }

// Regs returns the register space, for reading counters and queue contexts.
func (c *Comp) Regs() *core.Regs { return c.regs }

// AccountCredits returns the sum of the balances of the credit accounts.
func (c *Comp) AccountCredits() (sum int) {
	for i := range nicspec.NumAccounts {
		sum += int(c.regs.Account(i).Balance)
	}
	return sum
}

// PCIe returns the port of the TLP streams; its messages are tlp.Packet.
func (c *Comp) PCIe() *simcore.Port { return c.pcie }

// Eth returns the port of Ethernet port p; its messages are ether.Frame.
func (c *Comp) Eth(p int) *simcore.Port { return c.eth[p] }

// Handle implements sim.Handler: it works one clock cycle and schedules the next one with work.
func (c *Comp) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	cycle := int64(ev.At / c.period)
	c.events.Put(ev)
	c.pending--
	if cycle <= c.last {
		return nil
	}
	c.now, c.last = cycle, cycle
	c.moved, c.due = false, math.MaxInt64
	if len(c.rests) > 0 {
		c.reportRest()
	}
	if len(c.helds) > 0 {
		c.reportHeld()
	}
	c.step()
	if len(c.rests) > 0 {
		if c.rest = core.Never; !c.Busy() {
			c.rest = cycle + 1
		}
	}
	switch {
	case c.moved:
		c.wake(cycle + 1)
	case c.due != math.MaxInt64:
		c.wake(min(c.due, cycle+patience))
	case c.reader.Outstanding() != 0 && c.latest <= cycle:
		c.wake(cycle + patience)
	}
	return nil
}

// step works one cycle: inputs, then internal stages, then outputs.
func (c *Comp) step() {
	c.receiveFrames()
	c.receiveTLP()
	c.expire()
	c.finishOutputs()
	c.checkTimers()
	c.takeCompletions()
	c.takeRequests()
	c.classifyFrames()
	c.endStops()
	c.startEntries()
	c.finishEntries()
	c.planFrame()
	c.startFrames()
	c.startTLP()
	c.drain()
	c.advanceReset()
}

// expire ends the overdue reads.
func (c *Comp) expire() {
	for {
		rd := c.reader.Expire(c.now, c.timeout)
		if rd == nil {
			return
		}
		c.regs.Step(nicspec.CntCplTimeouts)
		c.moved = true
		c.readEnded(rd)
	}
}

// drain ends the table command that disables a queue, once nothing of the queue is in flight.
func (c *Comp) drain() {
	if !c.regs.Busy() {
		return
	}
	idle := false
	if c.drainRx {
		idle = c.rx.queues[c.drainQ].refs == 0
	} else {
		q := &c.tx.queues[c.drainQ]
		idle = q.refs == 0 && !q.failed && !q.win.Ready()
	}
	if idle && c.reported(c.drainRx, c.drainQ) {
		c.regs.Drained()
		c.moved = true
	}
}

var (
	_ sim.Component       = (*Comp)(nil)
	_ sim.Handler         = (*Comp)(nil)
	_ boundary.Observable = (*Comp)(nil)
)

// finishOutputs completes the packets that leave the device in this cycle.
func (c *Comp) finishOutputs() {
	for p := range c.tx.ports {
		c.finishFrame(p)
	}
	c.finishTLP()
}
