package golden

import (
	"fmt"

	"nictwin/models/boundary"
	"nictwin/models/fifo"
)

// backpressure records when the streams out of the device were held back, as
// observers reported it.
type backpressure struct {
	tlp  spans   // m_axis_tlp was held back
	used spans   // m_axis_tlp was held back, or carried a TLP
	eth  []spans // m_axis_eth of a port was held back
}

// How many cycles outside of a set of spans its spans are kept for: more than any
// bound that is checked with them.
const (
	keptTLP  = 1 << 14 // [L3]
	keptUsed = 1 << 11 // [M3], fetchSlack
	keptEth  = 1 << 11 // [F6]
)

func (s *backpressure) init(ports int) {
	s.tlp, s.used, s.eth = spans{keep: keptTLP}, spans{keep: keptUsed}, make([]spans, ports)
	for i := range s.eth {
		s.eth[i] = spans{keep: keptEth}
	}
}

// Held takes an interval in which a stream was held back. A referee that gets none
// takes every delay for the device's own.
func (r *Referee) Held(x boundary.Held) {
	if r.fault != "" {
		return
	}
	if x.First > x.Last || x.Kind >= boundary.NumKinds || uint(x.Port) >= uint(len(r.held.eth)) {
		r.fault = fmt.Sprintf("%v is no time of a stream of this build", x)
		return
	}
	s := &r.held.tlp
	switch x.Kind {
	case boundary.FrameOut:
		s = &r.held.eth[x.Port]
	case boundary.TLPOut:
		r.held.used.add(x.First, x.Last)
	default:
		return // inputs that are slow give the device time
	}
	if x.First <= s.latest() {
		r.fault = fmt.Sprintf("%v is out of order after cycle %d", x, s.latest())
		return
	}
	s.add(x.First, x.Last)
}

var _ boundary.HeldObserver = (*Referee)(nil).Held

// waited counts the cycles from a former one to the first beat of the current TLP,
// without those in which m_axis_tlp was held back or carried other TLPs.
func (r *Referee) waited(since int64) int64 { return r.held.used.free(since, r.x.First-1) + 1 }

// begun is the cycle in which the current frame was offered.
func (r *Referee) begun() int64 { return r.held.eth[r.x.Port].begin(r.x.First) }

// spans is a set of cycles, added in order and forgotten when many that are not
// in it have passed since.
type spans struct {
	list fifo.Queue[stretch]
	keep int64
}

// stretch is a range of cycles of the set, and how many cycles of it lie before.
type stretch struct{ first, last, before int64 }

// free is how many cycles before it are not in the set.
func (t *stretch) free() int64 { return t.first - t.before }

// latest is the latest cycle in the set.
func (s *spans) latest() int64 {
	if s.list.Len() == 0 {
		return never
	}
	return s.list.At(s.list.Len() - 1).last
}

// add adds cycles, the first of which may lie before the latest.
func (s *spans) add(first, last int64) {
	l := &s.list
	for l.Len() > 0 && l.At(l.Len()-1).first >= first {
		last = max(last, l.PopLast().last)
	}
	before := int64(0)
	if l.Len() > 0 {
		t := l.At(l.Len() - 1)
		if t.last >= first-1 {
			t.last = max(t.last, last)
			return
		}
		before = t.before + t.last - t.first + 1
	}
	l.Push(stretch{first, last, before})
	for l.At(l.Len()-1).free()-l.Front().free() > s.keep {
		l.Pop()
	}
}

// find counts the spans that begin in a cycle or before.
func (s *spans) find(cycle int64) int {
	lo, hi := 0, s.list.Len()
	if hi > 0 && s.list.At(hi-1).first <= cycle {
		return hi // most looks are at the end
	}
	for lo < hi {
		if mid := (lo + hi) / 2; s.list.At(mid).first <= cycle {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// upTo counts the cycles of the set up to and including one.
func (s *spans) upTo(cycle int64) int64 {
	i := s.find(cycle)
	if i == 0 {
		if s.list.Len() == 0 {
			return 0
		}
		return s.list.At(0).before // it is not known when, long ago
	}
	x := s.list.At(i - 1)
	return x.before + min(cycle, x.last) - x.first + 1
}

// free counts the cycles after the first, up to the second, that are not in the
// set.
func (s *spans) free(after, to int64) int64 {
	if to <= after {
		return 0
	}
	return to - after - s.upTo(to) + s.upTo(after)
}

// back returns the earliest cycle from which at most n cycles outside of the set
// lie before the given one.
func (s *spans) back(cycle, n int64) int64 {
	for i := s.find(cycle - 1); i > 0; i-- {
		x := s.list.At(i - 1)
		if gap := cycle - 1 - x.last; gap > n {
			break
		} else if gap > 0 {
			n -= gap
		}
		cycle = x.first
	}
	return cycle - n
}

// begin returns the first cycle of the span that ends just before the given cycle,
// or else that cycle.
func (s *spans) begin(cycle int64) int64 {
	if i := s.find(cycle - 1); i > 0 && s.list.At(i-1).last >= cycle-1 {
		return s.list.At(i - 1).first
	}
	return cycle
}
