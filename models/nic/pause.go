package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/stream"
)

// ethPause is the pause state of a port, in both directions.
type ethPause struct {
	stops  core.PauseStops
	send   core.PauseSender
	own    *msg.Frame // pause frame that is offered or being sent
	silent bool       // tx_mode is 0 and no pause frame is due: nothing to watch
}

// applyPause applies a received pause frame that the port honours [F3].
func (c *Comp) applyPause(f *rxFrame) {
	p, _ := core.ParsePause(f.f.Data)
	c.tx.stops = true
	c.tx.ports[f.port].pause.stops.Take(&p, c.regs.Receive().Pause[f.port], f.last+1, c.spec.EthBits)
}

// endStops updates the stopped classes and wakes the queues whose class is no longer stopped.
func (c *Comp) endStops() {
	if !c.tx.stops {
		return
	}
	now := uint8(0)
	c.tx.stops = false
	for p := range c.tx.ports {
		stopped, again := c.tx.ports[p].pause.stops.Classes(c.now)
		c.wakeBy(again)
		c.tx.stops = c.tx.stops || again != core.Never
		now |= stopped
	}
	ended := c.tx.stopped &^ now
	if c.tx.stopped = now; ended == 0 {
		return
	}
	c.moved = true
	for i := range c.tx.queues {
		if c.tx.parked.Has(i) && ended>>c.regs.Txq(i).PfcClass&1 != 0 {
			c.tx.parked.Clear(i)
			c.tx.want.Set(i)
			c.markStartable(i)
		}
	}
}

// park makes a queue wait if its class is stopped, and reports whether it does. A queue that has no
// entry ready to start needs to wait only if it has entries to fetch: in state Run, with blocks
// posted beyond those requested.
func (c *Comp) park(queue int) bool {
	q, w := c.regs.Txq(queue), &c.tx.queues[queue].win
	if !c.classStopped(queue) || !w.Ready() && (q.State != nicspec.QueueStateRun || q.PI == w.Next) {
		return false
	}
	c.tx.start.Clear(queue)
	c.tx.want.Clear(queue)
	c.tx.parked.Set(queue)
	return true
}

// classStopped reports whether a transmit queue's class is stopped on any port: none of its entries
// is fetched or started [F4].
func (c *Comp) classStopped(queue int) bool {
	return c.tx.stopped != 0 && c.tx.stopped>>c.regs.Txq(queue).PfcClass&1 != 0
}

// maySend reports whether the next frame of a port may begin: no pause stops the port or its class.
func (c *Comp) maySend(l *ethOut) bool {
	class := c.regs.Txq(int(c.tx.slots[*l.fifo.Front()].queue)).PfcClass
	return c.reached(l.pause.stops.Frame(class))
}

// watchBuffer decides from the fill of the receive buffer whether a port must send a pause frame
// [F6].
func (c *Comp) watchBuffer(port int) {
	l := &c.tx.ports[port].pause
	if l.silent {
		return
	}
	if c.flr.on {
		l.send.Reset()
		return
	}
	cfg := c.regs.PortCfg(port)
	if again := l.send.Watch(cfg, c.rx.ports[port].held, c.now, c.spec.EthBits); again != core.Never {
		c.wakeBy(again)
	}
	l.silent = cfg.TxMode == nicspec.PauseModeNone
}

// offerPause offers the pause frame that is due on a port.
func (c *Comp) offerPause(port int) {
	l := &c.tx.ports[port]
	e, cfg := &l.pause, c.regs.PortCfg(port)
	quanta := e.send.Begin(cfg, c.now)
	e.own = c.frames.Get(nicspec.FrameMin)
	core.BuildPause(cfg, c.regs.PortMAC(port), quanta, (*[nicspec.FrameMin]byte)(e.own.Data))
	e.own.Port, e.own.Queue = port, nicspec.PauseQueue
	l.busy, c.moved = true, true
	l.x.Offer(c.now, stream.BeatsOf(nicspec.FrameMin, c.spec.EthBits))
}

// pauseLeft completes the pause frame that has left.
func (c *Comp) pauseLeft(port int) {
	l := &c.tx.ports[port]
	f := l.pause.own
	l.pause.own = nil
	c.observe(boundary.Crossing{Kind: boundary.FrameOut, Port: port, First: l.x.First, Last: l.x.Last, Frame: &f.Frame})
	c.regs.StepPort(nicspec.CntTxPause, port, 1)
	c.send(port, f)
}
