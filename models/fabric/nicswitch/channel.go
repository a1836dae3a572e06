package nicswitch

import (
	"nictwin/models/fabric/pcielink"
	"nictwin/models/sim/simcore"
)

// The directions of a channel, as the switch sees them.
const (
	inward = iota
	outward
)

// channel is what the TLPs of some ports cross in one direction between the switch and its links: one at a time if it
// has a rate. Its ports take turns, a TLP each.
type channel struct {
	s     *Switch
	way   int
	ports []*port
	next  int // whose turn it is

	paced   bool
	wire    pcielink.Wire
	backlog simcore.Ps // at most that much is before it

	timer   simcore.Event
	armed   bool
	serving bool
	again   bool // served once more when done: something came while serving
}

// backlogged reports whether a TLP has to wait before it crosses. It then arms the timer.
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

// due is called by the timer.
func (c *channel) due(now simcore.Ps) {
	c.armed = false
	if c.way == inward {
		for _, p := range c.ports {
			p.offerAgain()
		}
	}
	c.serve(now)
}

// serve moves TLPs until none can go or the channel is full.
func (c *channel) serve(now simcore.Ps) {
	if c.serving { // one of its TLPs led back here
		c.again = true
		return
	}
	c.serving = true
	if !c.paced && len(c.ports) == 1 {
		c.alone(c.ports[0], now)
	} else {
		c.turns(now)
	}
	c.serving = false
}

// alone serves the only port of a channel without a rate.
func (c *channel) alone(p *port, now simcore.Ps) {
	for c.again = true; c.again; {
		c.again = false
		if c.way == inward {
			for p.port.Len() > 0 && p.take(now) {
			}
		} else {
			for p.queued > 0 && p.give(now) {
			}
		}
	}
}

// turns serves the ports in turn.
func (c *channel) turns(now simcore.Ps) {
	for idle := 0; idle < len(c.ports) && !c.backlogged(now); {
		p := c.ports[c.next]
		if c.next++; c.next == len(c.ports) {
			c.next = 0
		}
		c.again = false
		if c.way == inward && p.take(now) || c.way == outward && p.give(now) || c.again {
			idle = 0
		} else {
			idle++
		}
	}
}
