package fifo

// Slots is a queue of slots, each at most once, from which any can be removed in constant time: a ring of links,
// in which entry `slots` is the head.
type Slots struct{ next, prev []int }

// NewSlots returns an empty queue of slots 0 to slots-1.
func NewSlots(slots int) Slots {
	q := Slots{make([]int, slots+1), make([]int, slots+1)}
	for i := range q.next {
		q.next[i], q.prev[i] = i, i
	}
	return q
}

func (q *Slots) head() int { return len(q.next) - 1 }

// Front returns the slot that was pushed first; ok is false for an empty queue.
func (q *Slots) Front() (slot int, ok bool) {
	slot = q.next[q.head()]
	return slot, slot != q.head()
}

// Push adds a slot that is not in the queue at its end.
func (q *Slots) Push(slot int) {
	head := q.head()
	last := q.prev[head]
	q.next[last], q.prev[head] = slot, slot
	q.next[slot], q.prev[slot] = head, last
}

// Remove removes a slot, if it is in the queue.
func (q *Slots) Remove(slot int) {
	before, after := q.prev[slot], q.next[slot]
	q.next[before], q.prev[after] = after, before
	q.next[slot], q.prev[slot] = slot, slot
}
