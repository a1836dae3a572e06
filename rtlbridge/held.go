package rtlbridge

import "nictwin/rtlbridge/protocol"

// heldTime is a time, first to last, in which a stream stood still for want of the other side.
type heldTime struct{ first, last uint64 }

// heldAhead is the held times that were read from the frame at hand, or from those before, and not told of yet:
// observers are told of a cycle before the first crossing of a later one. What they are told then depends on no
// quantum.
type heldAhead struct {
	streams []queue[heldTime]
	next    uint64 // the earliest cycle that was not told of
}

const noCycle = 1<<64 - 1

// scan finds the held times of a frame whose records have not been read.
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

// tell tells observers of the held cycles before one.
func (h *heldAhead) tell(cycle uint64, observers []func(stream int, first, last uint64)) {
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

// ObserveHeld registers a function that is told of all cycles in which a stream stood still for want of the other side
// (docs/bridge.md): of those before a crossing's cycle before that crossing, so piece by piece where crossings fall
// within.
func (c *Comp) ObserveHeld(f func(stream int, first, last uint64)) {
	if c.held == nil {
		c.ahead = heldAhead{streams: make([]queue[heldTime], len(c.conn.Hello().Streams)), next: noCycle}
	}
	c.held = append(c.held, f)
}
