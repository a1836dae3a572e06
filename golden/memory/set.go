package memory

import "math"

// Set is a set of byte offsets, stored as disjoint intervals in ascending order. The zero value is
// empty. Clearing it keeps its storage.
type Set struct{ s []Interval }

// Interval contains the offsets i with Lo <= i < Hi.
type Interval struct{ Lo, Hi int }

// Clear empties the set and keeps its storage.
func (r *Set) Clear() { r.s = r.s[:0] }

// Emptied returns an empty set that reuses the storage of r.
func (r *Set) Emptied() Set { return Set{r.s[:0]} }

// Empty reports whether the set is empty.
func (r *Set) Empty() bool { return len(r.s) == 0 }

// All returns the intervals; they are valid until the next change.
func (r *Set) All() []Interval { return r.s }

// Add adds an interval. It reports false, and changes nothing, if a part of it is in the set
// already.
func (r *Set) Add(lo, hi int) bool {
	n := len(r.s)
	if n > 0 && r.s[n-1].Hi == lo { // usual case: the interval continues the last one
		r.s[n-1].Hi = hi
		return true
	}
	i := n
	for i > 0 && r.s[i-1].Lo >= hi {
		i--
	}
	if i > 0 && r.s[i-1].Hi > lo {
		return false
	}
	before := i > 0 && r.s[i-1].Hi == lo
	after := i < n && r.s[i].Lo == hi
	switch {
	case before && after:
		r.s[i-1].Hi = r.s[i].Hi
		r.s = append(r.s[:i], r.s[i+1:]...)
	case before:
		r.s[i-1].Hi = hi
	case after:
		r.s[i].Lo = lo
	default:
		r.s = append(r.s, Interval{})
		copy(r.s[i+1:], r.s[i:])
		r.s[i] = Interval{lo, hi}
	}
	return true
}

// Cover adds an interval, which may overlap the set.
func (r *Set) Cover(lo, hi int) {
	for lo < hi {
		if n := r.Next(lo); n > lo {
			lo = n
			continue
		}
		to := hi
		if n := r.Room(lo); n < hi-lo {
			to = lo + n
		}
		r.Add(lo, to)
		lo = to
	}
}

// Remove removes an interval that is wholly in the set.
func (r *Set) Remove(lo, hi int) {
	for i := range r.s {
		v := r.s[i]
		if lo < v.Lo || hi > v.Hi {
			continue
		}
		switch {
		case lo == v.Lo && hi == v.Hi:
			r.s = append(r.s[:i], r.s[i+1:]...)
		case lo == v.Lo:
			r.s[i].Lo = hi
		case hi == v.Hi:
			r.s[i].Hi = lo
		default:
			r.s = append(r.s, Interval{})
			copy(r.s[i+1:], r.s[i:])
			r.s[i].Hi, r.s[i+1].Lo = lo, hi
		}
		return
	}
}

// Free reports whether no part of an interval is in the set.
func (r *Set) Free(lo, hi int) bool {
	for i := len(r.s) - 1; i >= 0; i-- {
		if r.s[i].Hi <= lo {
			return true
		}
		if r.s[i].Lo < hi {
			return false
		}
	}
	return true
}

// Size returns the number of offsets in the set.
func (r *Set) Size() (n int) {
	for _, v := range r.s {
		n += v.Hi - v.Lo
	}
	return n
}

// Next returns the first offset from at on that is not in the set.
func (r *Set) Next(at int) int {
	for _, v := range r.s {
		if v.Lo <= at && at < v.Hi {
			return v.Hi
		}
	}
	return at
}

// Room returns the number of consecutive offsets, the first of them `at`, that are not in the set.
func (r *Set) Room(at int) int {
	n := math.MaxInt
	for _, v := range r.s {
		switch {
		case v.Lo <= at && at < v.Hi:
			return 0
		case v.Lo > at:
			n = min(n, v.Lo-at)
		}
	}
	return n
}

// Has reports whether an interval is wholly in the set.
func (r *Set) Has(lo, hi int) bool {
	for _, v := range r.s {
		if v.Lo <= lo && hi <= v.Hi {
			return true
		}
	}
	return false
}

// Exactly reports whether the set is the interval from 0 to n.
func (r *Set) Exactly(n int) bool {
	if n == 0 {
		return len(r.s) == 0
	}
	return len(r.s) == 1 && r.s[0] == Interval{0, n}
}

// Within returns the first part of an interval that is in the set, or an empty interval.
func (r *Set) Within(lo, hi int) (from, to int) {
	for _, v := range r.s {
		if v.Hi > lo {
			return max(v.Lo, lo), min(v.Hi, hi)
		}
	}
	return hi, hi
}

// Gap returns the first offset below n that is not in the set, or n.
func (r *Set) Gap(n int) int {
	at := 0
	for _, v := range r.s {
		if v.Lo > at {
			break
		}
		at = v.Hi
	}
	return min(at, n)
}

// End returns the offset after the last one in the set.
func (r *Set) End() int {
	if len(r.s) == 0 {
		return 0
	}
	return r.s[len(r.s)-1].Hi
}
