package core

import "math/bits"

// Scheduler selects the class that a port sends next. Classes of weight 0 have strict priority, the
// highest class first. The others take turns and get bandwidth in proportion to their weights
// (Shreedhar and Varghese, "Efficient fair queuing using deficit round robin", 1995).
type Scheduler struct {
	strict  uint8 // a bit for each class of weight 0
	quantum [Classes]int
	deficit [Classes]int
	turn    int
	served  bool // the current class has received its quantum in this turn
}

// NewScheduler returns a scheduler for ports whose longest frame takes the given bytes on the wire.
func NewScheduler(weights *[Classes]int, longest int) (s Scheduler) {
	for c, w := range weights {
		if s.quantum[c] = w * longest; w == 0 {
			s.strict |= 1 << c
		}
	}
	return s
}

// Next returns the class that sends next. ready has a bit for each class that may send now, and
// must not be 0; waiting has one for each class with frames, paused or not. sizes holds the wire
// bytes of the frame at the head of each queue.
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
