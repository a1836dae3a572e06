package nic

import (
	"nictwin/models/boundary"
	"nictwin/models/ether"
	"nictwin/models/nicspec"
)

// ethPause is what the timed part knows of pauses on a port.
type ethPause struct {
	stop    int64               // no frame begins before this cycle [F4]
	classes [PauseClasses]int64 // likewise those of a class

	paused bool  // the other side was told to pause
	told   int64 // cycle of the latest time
	due    bool  // a pause frame is to be sent,
	end    bool  // one that ends the pause
	own    *ether.Frame
}

// pauseCame takes a pause frame that is honoured [F3].
func (c *Comp) pauseCame(f *rxFrame) {
	e, rules := &c.tx.ports[f.port].pause, c.regs.cfg.Pause[f.port]
	p, _ := ParsePause(f.f.Data)
	if !p.Priority {
		e.stop = f.last + 1 + c.spec.PauseCycles(p.Quanta[0])
		return
	}
	for i := range e.classes {
		if p.Classes&rules.Classes>>i&1 != 0 {
			e.classes[i] = f.last + 1 + c.spec.PauseCycles(p.Quanta[i])
		}
	}
}

// endStops lets the classes go on whose stop has ended.
func (c *Comp) endStops() {
	now := uint8(0)
	for p := range c.tx.ports {
		for i, cycle := range c.tx.ports[p].pause.classes {
			if !c.until(cycle) {
				now |= 1 << i
			}
		}
	}
	ended := c.tx.stopped &^ now
	if c.tx.stopped = now; ended == 0 {
		return
	}
	c.moved = true
	for i := range c.tx.queues {
		if c.tx.parked.has(i) && ended>>c.regs.txq[i].PfcClass&1 != 0 {
			c.tx.parked.clear(i)
			c.tx.want.set(i)
			c.offer(i)
		}
	}
}

// park makes a queue wait for the end of its class's stop, and reports whether
// it has to: one that is not in state Run waits with what it has fetched only.
func (c *Comp) park(queue int) bool {
	if !c.classStopped(queue) || c.regs.txq[queue].State != nicspec.QueueStateRun && !c.tx.queues[queue].win.ready() {
		return false
	}
	c.tx.start.clear(queue)
	c.tx.want.clear(queue)
	c.tx.parked.set(queue)
	return true
}

// classStopped reports whether a transmit queue's class is stopped on any port:
// none of its entries is fetched or started [F4].
func (c *Comp) classStopped(queue int) bool {
	return c.tx.stopped != 0 && c.tx.stopped>>c.regs.txq[queue].PfcClass&1 != 0
}

// maySend reports whether no stop keeps the next frame of a port from beginning.
func (c *Comp) maySend(l *ethOut) bool {
	class := c.regs.txq[c.tx.slots[*l.fifo.front()].queue].PfcClass
	return c.until(max(l.pause.stop, l.pause.classes[class]))
}

// watchBuffer decides on the pause frames of a port [F6].
func (c *Comp) watchBuffer(port int) {
	cfg, e := c.regs.PortCfg(port), &c.tx.ports[port].pause
	if cfg.TxMode == nicspec.PauseModeNone || c.flr.on {
		e.paused, e.due = false, false
		return
	}
	held := c.rx.ports[port].held
	switch {
	case e.due:
	case !e.paused:
		e.due, e.end = held > int(cfg.Xoff), false
	case held <= int(cfg.Xon):
		e.due, e.end = true, true
	case c.until(e.told + c.spec.PauseCycles(cfg.PauseTime)/2):
		e.due, e.end = true, false
	}
}

// startPause begins a pause frame of the device's own.
func (c *Comp) startPause(port int) {
	l := &c.tx.ports[port]
	e, cfg := &l.pause, c.regs.PortCfg(port)
	quanta := cfg.PauseTime
	if e.end {
		quanta = 0
	}
	e.own = c.frames.Get(nicspec.FrameMin)
	BuildPause(cfg, c.regs.PortMAC(port), quanta, (*[nicspec.FrameMin]byte)(e.own.Data))
	e.own.Port, e.own.Queue = port, nicspec.PauseQueue
	e.paused, e.told, e.due = !e.end, c.now, false
	l.busy, c.moved = true, true
	l.x.start(&l.stall, c.now, beatsOf(nicspec.FrameMin, c.spec.EthBits))
	c.finishFrame(port)
}

// pauseLeft ends it.
func (c *Comp) pauseLeft(port int) {
	l := &c.tx.ports[port]
	f := l.pause.own
	l.pause.own = nil
	c.observe(boundary.Crossing{Kind: boundary.FrameOut, Port: port, First: l.x.first, Last: l.x.last, Frame: f})
	c.regs.StepPort(nicspec.CntTxPause, port, 1)
	c.send(port, f)
}

// pausing reports whether a pause frame is on its way.
func (c *Comp) pausing() bool {
	for p := range c.tx.ports {
		if e := &c.tx.ports[p].pause; e.due || e.own != nil {
			return true
		}
	}
	return false
}
