package order

import "nictwin/models/format/tlp"

// Gate decides which TLPs can leave a Queue now.
type Gate[T any] interface {
	// Open reports whether v can leave. It is called in queue order, and never for a TLP that must
	// wait for an earlier one.
	Open(class tlp.Class, v T) bool
}

// Queue holds the TLPs of one direction in order of arrival. The zero value is empty and ready for
// use.
type Queue[T any] struct {
	slots []slot[T]
	first link // oldest TLP
	last  link
	free  link // first unused slot
	count [3]int

	// The search for a TLP that can leave continues where it ended: none of the TLPs before `from`
	// could leave.
	prev, from  link // `from` is the TLP to examine next, `prev` the one before it
	posted, cpl bool // a posted request, or a completion, is among the TLPs that could not leave
}

// link is a slot's number plus one; 0 means no slot.
type link int32

type slot[T any] struct {
	v    T
	key  Key
	next link
}

// Len returns the number of TLPs in the queue.
func (q *Queue[T]) Len() int { return q.count[0] + q.count[1] + q.count[2] }

// Count returns the number of TLPs of a class.
func (q *Queue[T]) Count(c tlp.Class) int { return q.count[c] }

// Push appends a TLP.
func (q *Queue[T]) Push(k Key, v T) {
	l := q.free
	if l != 0 {
		q.free = q.slots[l-1].next
	} else {
		q.slots = append(q.slots, slot[T]{})
		l = link(len(q.slots))
	}
	q.slots[l-1] = slot[T]{v: v, key: k}
	if q.last == 0 {
		q.first = l
	} else {
		q.slots[q.last-1].next = l
	}
	if q.from == 0 {
		q.prev, q.from = q.last, l
	}
	q.last = l
	q.count[k.Class]++
}

// Rewind makes Next examine all TLPs again: call it when the gate may have opened for more of them.
func (q *Queue[T]) Rewind() {
	q.prev, q.from, q.posted, q.cpl = 0, q.first, false, false
}

// Next removes and returns the first TLP for which the gate is open and that may pass all TLPs
// before it. ok is false if the queue has no such TLP. A TLP that could not leave is examined again
// only after Rewind.
func (q *Queue[T]) Next(g Gate[T]) (v T, ok bool) {
	for q.from != 0 {
		l := q.from
		s := &q.slots[l-1]
		if q.mayGo(s) && g.Open(s.key.Class, s.v) {
			return q.remove(l), true
		}
		switch s.key.Class {
		case tlp.Posted:
			q.posted = true
		case tlp.Completion:
			q.cpl = true
		}
		q.prev, q.from = l, s.next
	}
	return v, false
}

// mayGo reports whether a TLP may pass all TLPs before it. Only earlier posted requests, and
// completions of the same request, can forbid that.
func (q *Queue[T]) mayGo(s *slot[T]) bool {
	if q.posted && Entry(s.key, Key{Class: tlp.Posted}) == MustNotPass {
		return false
	}
	if !q.cpl || s.key.Class != tlp.Completion {
		return true
	}
	for l := q.first; l != q.from; l = q.slots[l-1].next {
		if f := &q.slots[l-1]; f.key.Class == tlp.Completion && Entry(s.key, f.key) == MustNotPass {
			return false
		}
	}
	return true
}

// remove takes out the TLP at the search position.
func (q *Queue[T]) remove(l link) T {
	s := &q.slots[l-1]
	v, next := s.v, s.next
	if q.prev == 0 {
		q.first = next
	} else {
		q.slots[q.prev-1].next = next
	}
	if q.last == l {
		q.last = q.prev
	}
	q.count[s.key.Class]--
	*s = slot[T]{next: q.free}
	q.free, q.from = l, next
	return v
}

// Each calls f for every TLP, in order.
func (q *Queue[T]) Each(f func(v T)) {
	for l := q.first; l != 0; l = q.slots[l-1].next {
		f(q.slots[l-1].v)
	}
}
