package nicswitch

import (
	"nictwin/models/fabric/pcielink"
	"nictwin/models/sim/simcore"
)

// The directions of a channel, seen from the switch.
const (
	inward = iota
	outward
)

// channel carries the TLPs of some ports in one direction between the switch and its links: one at
// a time if it has a rate. Its ports take turns, one TLP each.
type channel struct {
	s     *Switch
	dir   int
	ports []*port
	next  int // whose turn it is

	paced   bool
	wire    pcielink.Wire
	backlog simcore.Ps // bound on the wire time queued before the next TLP

	timer   simcore.Event
	armed   bool
	serving bool
	again   bool // serve once more when done: a TLP arrived while serving
}

// backlogged reports whether a TLP must wait before it crosses. It then arms the timer.
func (c *channel) backlogged(now simcore.Ps) bool {
	if !c.paced || c.wire.Busy()-c.backlog <= now {
		return false
	}
	c.arm(c.wire.Busy() - c.backlog)
	return true
}

func (c *channel) arm(at simcore.Ps) {
	if !c.armed {
		c.armed = true
		c.timer.At = at
		c.s.clock.Schedule(&c.timer)
	}
}

// due handles the timer.
func (c *channel) due(now simcore.Ps) {
	c.armed = false
	if c.dir == inward {
		for _, p := range c.ports {
			p.offerAgain()
		}
	}
	c.serve(now)
}

// serve moves TLPs until none can leave or the channel is full.
func (c *channel) serve(now simcore.Ps) {
	if c.serving { // one of its TLPs led back here
		c.again = true
		return
	}
	c.serving = true
	if !c.paced && len(c.ports) == 1 {
		c.serveSingle(c.ports[0], now)
	} else {
		c.serveInTurn(now)
	}
	c.serving = false
}

// serveSingle serves the only port of a channel without a rate.
func (c *channel) serveSingle(p *port, now simcore.Ps) {
	for c.again = true; c.again; {
		c.again = false
		if c.dir == inward {
			for p.port.Len() > 0 && p.take(now) {
			}
		} else {
			for p.queued > 0 && p.sendNext(now) {
			}
		}
	}
}

// serveInTurn serves the ports round robin.
func (c *channel) serveInTurn(now simcore.Ps) {
	for idle := 0; idle < len(c.ports) && !c.backlogged(now); {
		p := c.ports[c.next]
		if c.next++; c.next == len(c.ports) {
			c.next = 0
		}
		c.again = false
		if c.dir == inward && p.take(now) || c.dir == outward && p.sendNext(now) || c.again {
			idle = 0
		} else {
			idle++
		}
	}
}
