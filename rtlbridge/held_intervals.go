package rtlbridge

import "nictwin/rtlbridge/protocol"

// heldTime is an interval of cycles in which a stream was held back by the other side.
type heldTime struct{ first, last uint64 }

// heldAhead contains the held intervals that were read from the current frame, or from earlier ones, and
// not yet reported. Observers get all held cycles before the first crossing of a later cycle, so their view
// does not depend on the quantum.
type heldAhead struct {
	streams []queue[heldTime]
	next    uint64 // earliest cycle not yet reported
}

const noCycle = 1<<64 - 1

// scan finds the held intervals of a frame whose records have not been read.
func (h *heldAhead) scan(r *protocol.Ran) {
	r.HeldTimes(func(stream int, first, last uint64) { h.add(stream, heldTime{first, last}) })
}

func (h *heldAhead) add(stream int, x heldTime) {
	q := &h.streams[stream]
	if q.n > 0 {
		if latest := q.tail(); latest.last+1 == x.first {
			latest.last = x.last
			return
		}
	}
	q.push(x)
	h.next = min(h.next, x.first)
}

// report passes the held cycles that lie before the given cycle to the observers.
func (h *heldAhead) report(cycle uint64, observers []func(stream int, first, last uint64)) {
	if h.next >= cycle {
		return
	}
	h.next = noCycle
	for stream := range h.streams {
		q := &h.streams[stream]
		for q.n > 0 && q.head().first < cycle {
			x := q.head()
			first, last := x.first, min(x.last, cycle-1)
			if last == x.last {
				q.pop()
			} else {
				x.first = cycle
			}
			for _, f := range observers {
				f(stream, first, last)
			}
		}
		if q.n > 0 {
			h.next = min(h.next, q.head().first)
		}
	}
}

// ObserveHeld registers a function that is called with all cycles in which a stream was held back by the other side
// (docs/bridge.md): those before a crossing's cycle are reported before that crossing, so an interval with crossings in
// it comes in parts.
func (c *Comp) ObserveHeld(f func(stream int, first, last uint64)) {
	if c.held == nil {
		c.ahead = heldAhead{streams: make([]queue[heldTime], len(c.conn.Hello().Streams)), next: noCycle}
	}
	c.held = append(c.held, f)
}
