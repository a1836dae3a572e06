package cpu

import "nictwin/models/sim/fifo"

// manyStores is the number of pending stores from which on loads find theirs by line. Software that runs a step at a
// time stays below it; one that fills memory before the traffic records all its stores at once.
const manyStores = 1 << 10

// chains finds the pending stores to a line. It is empty while there are few.
type chains struct {
	byLine map[uint64]chain
}

// chain is the pending stores to a line, in program order.
type chain struct{ first, last *line }

// pushed adds the store that was pushed last, or all of them once they have become many.
func (c *chains) pushed(pending *fifo.Queue[*line]) {
	n := pending.Len()
	from := n - 1
	if len(c.byLine) == 0 {
		if n < manyStores {
			return
		}
		if from = 0; c.byLine == nil {
			c.byLine = map[uint64]chain{}
		}
	}
	for i := from; i < n; i++ {
		s := *pending.At(i)
		x := c.byLine[s.number()]
		if x.last == nil {
			x.first = s
		} else {
			x.last.next = s
		}
		x.last = s
		c.byLine[s.number()] = x
	}
}

// popped removes the oldest pending store.
func (c *chains) popped(s *line) {
	if len(c.byLine) == 0 {
		return
	}
	if s.next == nil {
		delete(c.byLine, s.number())
	} else {
		c.byLine[s.number()] = chain{s.next, c.byLine[s.number()].last}
	}
}

// forward overlays the stores to the lines of b, which begins at addr, on b.
func (c *chains) forward(addr uint64, b []byte) {
	if len(b) == 0 {
		return
	}
	for n := addr / lineBytes; n <= (addr+uint64(len(b))-1)/lineBytes; n++ {
		for s := c.byLine[n].first; s != nil; s = s.next {
			s.overlay(addr, b)
		}
	}
}

// number returns the number of the line that is accessed.
func (s *line) number() uint64 { return s.access.Addr / lineBytes }
