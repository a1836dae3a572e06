// Package cycles records sets of cycles, such as those in which a stream was held back, and counts
// how many of them lie between two cycles, long after. Cycles are added in order; the package does
// not know what they mean. Nothing allocates in steady state.
package cycles

import (
	"math"

	"nictwin/models/sim/fifo"
)

// Cycles before and after all others.
const (
	Never   = math.MinInt64
	Forever = math.MaxInt64
)

// Set is a set of cycles, added in order and forgotten once many cycles outside of the set have
// passed. Make it with NewSet.
type Set struct {
	list fifo.Queue[stretch]
	keep int64
}

// NewSet returns an empty set. Queries are exact as long as they look back over at most `keep` cycles that are not in
// the set.
func NewSet(keep int64) Set { return Set{keep: keep} }

// stretch is a range of cycles in the set, with the number of earlier cycles in the set.
type stretch struct{ first, last, before int64 }

// free returns how many cycles before the stretch, from cycle 0 on, are not in the set.
func (t *stretch) free() int64 { return t.first - t.before }

// Latest returns the latest cycle in the set.
func (s *Set) Latest() int64 {
	if s.list.Len() == 0 {
		return Never
	}
	return s.list.At(s.list.Len() - 1).last
}

// Add adds the cycles from first to last. first may lie before the latest cycle in the set.
func (s *Set) Add(first, last int64) {
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

// find counts the stretches that begin no later than a cycle.
func (s *Set) find(cycle int64) int {
	lo, hi := 0, s.list.Len()
	if hi > 0 && s.list.At(hi-1).first <= cycle {
		return hi // usual case: most queries concern the latest stretch
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

// upTo counts the cycles in the set up to and including one.
func (s *Set) upTo(cycle int64) int64 {
	i := s.find(cycle)
	if i == 0 {
		if s.list.Len() == 0 {
			return 0
		}
		return s.list.At(0).before // before the oldest stretch kept
	}
	x := s.list.At(i - 1)
	return x.before + min(cycle, x.last) - x.first + 1
}

// Free counts the cycles in (after, to] that are not in the set.
func (s *Set) Free(after, to int64) int64 {
	if to <= after {
		return 0
	}
	return to - after - s.upTo(to) + s.upTo(after)
}

// Back goes back from a cycle over n cycles outside of the set, and over any number of cycles in it. It returns the
// earliest cycle that it reaches.
func (s *Set) Back(cycle, n int64) int64 {
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

// Begin returns the first cycle of the stretch that ends just before the given cycle, else the given
// cycle.
func (s *Set) Begin(cycle int64) int64 {
	if i := s.find(cycle - 1); i > 0 && s.list.At(i-1).last >= cycle-1 {
		return s.list.At(i - 1).first
	}
	return cycle
}
