package nic

import "nictwin/models/boundary"

// ObserveHeld adds an observer of the times in which a stream is held.
func (c *Comp) ObserveHeld(o boundary.HeldObserver) { c.helds = append(c.helds, o) }

// tellHeld tells of what was held in the cycles before the one at hand. Frames
// into the device have no gaps.
func (c *Comp) tellHeld() {
	c.heldOf(boundary.TLPIn, 0, &c.in.x, &c.in.stall)
	for p := range c.tx.ports {
		c.heldOf(boundary.FrameOut, p, &c.tx.ports[p].x, &c.tx.ports[p].stall)
	}
	c.heldOf(boundary.TLPOut, 0, &c.out.x, &c.out.stall)
}

func (c *Comp) heldOf(kind boundary.Kind, port int, x *crossing, s *stall) {
	if !x.open || x.untold >= c.now || s.at == nil && !x.waits && x.first <= x.untold {
		return
	}
	from := x.untold
	x.untold = c.now
	begun := c.now // there was no credit in any cycle before
	if !x.waits {
		begun = min(x.first, c.now)
	}
	for at := from; at < c.now; at++ {
		if at < begun || s.at != nil && s.at(at) {
			continue
		}
		c.held(boundary.Held{Kind: kind, Port: port, First: from, Last: at - 1})
		from = at + 1
	}
	c.held(boundary.Held{Kind: kind, Port: port, First: from, Last: c.now - 1})
}

func (c *Comp) held(h boundary.Held) {
	if h.First > h.Last {
		return
	}
	for _, o := range c.helds {
		o(h)
	}
}
