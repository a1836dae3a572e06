package golden

import "math"

// ranges is a set of byte offsets, as disjoint intervals in ascending order.
// The zero value is empty. Clearing it keeps its storage.
type ranges struct{ s []interval }

type interval struct{ lo, hi int } // lo <= i < hi

func (r *ranges) clear() { r.s = r.s[:0] }

// emptied is an empty set that takes over the storage.
func (r *ranges) emptied() ranges { return ranges{r.s[:0]} }

// empty reports whether nothing is there.
func (r *ranges) empty() bool { return len(r.s) == 0 }

// all is the intervals, until the next change.
func (r *ranges) all() []interval { return r.s }

// add puts an interval in. It reports false, and changes nothing, if a part of
// it is there already.
func (r *ranges) add(lo, hi int) bool {
	n := len(r.s)
	if n > 0 && r.s[n-1].hi == lo { // as most come
		r.s[n-1].hi = hi
		return true
	}
	i := n
	for i > 0 && r.s[i-1].lo >= hi {
		i--
	}
	if i > 0 && r.s[i-1].hi > lo {
		return false
	}
	before := i > 0 && r.s[i-1].hi == lo
	after := i < n && r.s[i].lo == hi
	switch {
	case before && after:
		r.s[i-1].hi = r.s[i].hi
		r.s = append(r.s[:i], r.s[i+1:]...)
	case before:
		r.s[i-1].hi = hi
	case after:
		r.s[i].lo = lo
	default:
		r.s = append(r.s, interval{})
		copy(r.s[i+1:], r.s[i:])
		r.s[i] = interval{lo, hi}
	}
	return true
}

// cover puts in what is missing of an interval.
func (r *ranges) cover(lo, hi int) {
	for lo < hi {
		if n := r.next(lo); n > lo {
			lo = n
			continue
		}
		to := hi
		if n := r.room(lo); n < hi-lo {
			to = lo + n
		}
		r.add(lo, to)
		lo = to
	}
}

// remove takes out an interval that is wholly there.
func (r *ranges) remove(lo, hi int) {
	for i := range r.s {
		v := r.s[i]
		if lo < v.lo || hi > v.hi {
			continue
		}
		switch {
		case lo == v.lo && hi == v.hi:
			r.s = append(r.s[:i], r.s[i+1:]...)
		case lo == v.lo:
			r.s[i].lo = hi
		case hi == v.hi:
			r.s[i].hi = lo
		default:
			r.s = append(r.s, interval{})
			copy(r.s[i+1:], r.s[i:])
			r.s[i].hi, r.s[i+1].lo = lo, hi
		}
		return
	}
}

// free reports whether no part of an interval is there.
func (r *ranges) free(lo, hi int) bool {
	for i := len(r.s) - 1; i >= 0; i-- {
		if r.s[i].hi <= lo {
			return true
		}
		if r.s[i].lo < hi {
			return false
		}
	}
	return true
}

// size is how many offsets are there.
func (r *ranges) size() (n int) {
	for _, v := range r.s {
		n += v.hi - v.lo
	}
	return n
}

// next returns the first offset from one on that is missing.
func (r *ranges) next(at int) int {
	for _, v := range r.s {
		if v.lo <= at && at < v.hi {
			return v.hi
		}
	}
	return at
}

// room is how many offsets from one on are not there.
func (r *ranges) room(at int) int {
	n := math.MaxInt
	for _, v := range r.s {
		switch {
		case v.lo <= at && at < v.hi:
			return 0
		case v.lo > at:
			n = min(n, v.lo-at)
		}
	}
	return n
}

// has reports whether an interval is wholly there.
func (r *ranges) has(lo, hi int) bool {
	for _, v := range r.s {
		if v.lo <= lo && hi <= v.hi {
			return true
		}
	}
	return false
}

// exactly reports whether the set is the interval from 0 to n.
func (r *ranges) exactly(n int) bool {
	if n == 0 {
		return len(r.s) == 0
	}
	return len(r.s) == 1 && r.s[0] == interval{0, n}
}

// within returns the part of the first interval that reaches into another one,
// or an empty one.
func (r *ranges) within(lo, hi int) (from, to int) {
	for _, v := range r.s {
		if v.hi > lo {
			return max(v.lo, lo), min(v.hi, hi)
		}
	}
	return hi, hi
}

// gap returns the first offset below n that is missing, or n.
func (r *ranges) gap(n int) int {
	at := 0
	for _, v := range r.s {
		if v.lo > at {
			break
		}
		at = v.hi
	}
	return min(at, n)
}

// end is the offset after the last one.
func (r *ranges) end() int {
	if len(r.s) == 0 {
		return 0
	}
	return r.s[len(r.s)-1].hi
}
