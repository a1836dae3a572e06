package nicswitch

import (
	"nictwin/models/fabric/pcielink"
	"nictwin/models/sim/simcore"
)

// Directions of a channel: into the switch, and out of it.
const (
	inward = iota
	outward
)

// channel carries the TLPs of its ports in one direction between the links and the switch. If it
// has a rate, it carries one TLP at a time. Its ports take turns, one TLP each.
type channel struct {
	s     *Switch
	dir   int
	ports []*port
	next  int // index of the port that is served next

	paced   bool
	wire    pcielink.Wire
	backlog simcore.Ps // bound on the wire time queued before another TLP is taken

	timer      simcore.Event
	armed      bool
	serving    bool
	serveAgain bool // serve was called while serving: serve once more
}

// backlogged reports whether the wire is too busy to take another TLP. If so, it arms the timer for
// when it no longer is.
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

// due handles the timer: the channel can continue.
func (c *channel) due(now simcore.Ps) {
	c.armed = false
	if c.dir == inward {
		for _, p := range c.ports {
			p.offerAgain()
		}
	}
	c.serve(now)
}

// serve moves TLPs until no port has one that can move, or the wire is busy.
func (c *channel) serve(now simcore.Ps) {
	if c.serving { // moving a TLP made room, or brought another one, and so called serve again
		c.serveAgain = true
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

// serveSingle serves a channel without a rate that has one port.
func (c *channel) serveSingle(p *port, now simcore.Ps) {
	for c.serveAgain = true; c.serveAgain; {
		c.serveAgain = false
		if c.dir == inward {
			for p.port.Len() > 0 && p.take(now) {
			}
		} else {
			for p.queued > 0 && p.sendNext(now) {
			}
		}
	}
}

// serveInTurn serves the ports round robin, until none of them can move a TLP.
func (c *channel) serveInTurn(now simcore.Ps) {
	for idle := 0; idle < len(c.ports) && !c.backlogged(now); {
		p := c.ports[c.next]
		if c.next++; c.next == len(c.ports) {
			c.next = 0
		}
		c.serveAgain = false
		if c.dir == inward && p.take(now) || c.dir == outward && p.sendNext(now) || c.serveAgain {
			idle = 0
		} else {
			idle++
		}
	}
}
