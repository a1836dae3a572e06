package core

import "math/bits"

// Scheduler chooses the class that a port sends next: classes of weight 0 strictly first, the highest before all
// others; then the others in turn, each with bytes in proportion to its weight (Shreedhar and Varghese, "Efficient
// fair queuing using deficit round robin", 1995).
type Scheduler struct {
	strict  uint8 // the classes of weight 0
	quantum [Classes]int
	deficit [Classes]int
	turn    int
	served  bool // the class whose turn it is has received its quantum in this turn
}

// NewScheduler returns a scheduler for ports whose longest frame takes so many bytes on the wire.
func NewScheduler(weights *[Classes]int, longest int) (s Scheduler) {
	for c, w := range weights {
		if s.quantum[c] = w * longest; w == 0 {
			s.strict |= 1 << c
		}
	}
	return s
}

// Next returns the class that sends. It is one of ready (a bit each, at least one); sizes are the
// wire bytes of the frames at the heads of the queues. waiting are the classes that have frames,
// including those that may not send now.
func (s *Scheduler) Next(ready, waiting uint8, sizes *[Classes]int) int {
	if first := ready & s.strict; first != 0 {
		return bits.Len8(first) - 1
	}
	for {
		c := s.turn
		if ready>>c&1 != 0 {
			if !s.served {
				s.deficit[c], s.served = s.deficit[c]+s.quantum[c], true
			}
			if sizes[c] <= s.deficit[c] {
				s.deficit[c] -= sizes[c]
				return c
			}
		} else if waiting>>c&1 == 0 {
			s.deficit[c] = 0
		}
		s.served = false
		if s.turn++; s.turn == Classes {
			s.turn = 0
		}
	}
}
