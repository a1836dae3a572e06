// Package cycles counts cycles in which something was so, long after: a set of
// them that is told in order and asked how many lie between two others. It knows
// nothing of what they mean. In steady state it allocates nothing.
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

// Set is a set of cycles, added in order and forgotten when many that are not
// in it have passed since. Make it with NewSet.
type Set struct {
	list fifo.Queue[stretch]
	keep int64
}

// NewSet is an empty set. What it says is right as far back as keep cycles that are not in it.
func NewSet(keep int64) Set { return Set{keep: keep} }

// stretch is a range of cycles of the set, and how many cycles of it lie before.
type stretch struct{ first, last, before int64 }

// free is how many cycles before it are not in the set.
func (t *stretch) free() int64 { return t.first - t.before }

// Latest is the latest cycle in the set.
func (s *Set) Latest() int64 {
	if s.list.Len() == 0 {
		return Never
	}
	return s.list.At(s.list.Len() - 1).last
}

// Add adds cycles, the first of which may lie before the latest.
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

// find counts the stretches that begin in a cycle or before.
func (s *Set) find(cycle int64) int {
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
func (s *Set) upTo(cycle int64) int64 {
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

// Free counts the cycles after the first, up to the second, that are not in the
// set.
func (s *Set) Free(after, to int64) int64 {
	if to <= after {
		return 0
	}
	return to - after - s.upTo(to) + s.upTo(after)
}

// Back returns the earliest cycle from which at most n cycles outside of the set
// lie before the given one.
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

// Begin returns the first cycle of the stretch that ends just before the given cycle,
// or else that cycle.
func (s *Set) Begin(cycle int64) int64 {
	if i := s.find(cycle - 1); i > 0 && s.list.At(i-1).last >= cycle-1 {
		return s.list.At(i - 1).first
	}
	return cycle
}
