package nic

import "nictwin/models/boundary"

// ObserveHeld adds an observer of the times in which a stream is held.
func (c *Comp) ObserveHeld(o boundary.HeldObserver) { c.helds = append(c.helds, o) }

// tellHeld tells of what was held in the cycles before the one at hand. Frames
// into the device have no gaps.
func (c *Comp) tellHeld() {
	if c.in.x.mayBeHeld(&c.in.stall) {
		c.heldOf(boundary.TLPIn, 0, &c.in.x, &c.in.stall)
	}
	for p := range c.tx.ports {
		if l := &c.tx.ports[p]; l.x.mayBeHeld(&l.stall) {
			c.heldOf(boundary.FrameOut, p, &l.x, &l.stall)
		}
	}
	if c.out.x.mayBeHeld(&c.out.stall) {
		c.heldOf(boundary.TLPOut, 0, &c.out.x, &c.out.stall)
	}
}

// mayBeHeld reports whether the packet may have been held in a cycle of which is
// not told yet. It is asked in every cycle, and mostly says no.
func (x *crossing) mayBeHeld(s *stall) bool {
	return x.open && (x.waits || s.at != nil || x.first > x.untold)
}

func (c *Comp) heldOf(kind boundary.Kind, port int, x *crossing, s *stall) {
	from := x.untold
	if from >= c.now {
		return
	}
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
