package apps

// slotQueue is a queue of slots, each at most once, from which any can be removed in constant time: a ring of links,
// in which entry `slots` is the head.
type slotQueue struct{ next, prev []int }

// newSlotQueue returns an empty queue of slots 0 to slots-1.
func newSlotQueue(slots int) slotQueue {
	q := slotQueue{make([]int, slots+1), make([]int, slots+1)}
	for i := range q.next {
		q.next[i], q.prev[i] = i, i
	}
	return q
}

func (q *slotQueue) head() int { return len(q.next) - 1 }

// front returns the slot that was pushed first; ok is false for an empty queue.
func (q *slotQueue) front() (slot int, ok bool) {
	slot = q.next[q.head()]
	return slot, slot != q.head()
}

// push adds a slot that is not in the queue at its end.
func (q *slotQueue) push(slot int) {
	head := q.head()
	last := q.prev[head]
	q.next[last], q.prev[head] = slot, slot
	q.next[slot], q.prev[slot] = head, last
}

// remove removes a slot, if it is in the queue.
func (q *slotQueue) remove(slot int) {
	before, after := q.prev[slot], q.next[slot]
	q.next[before], q.prev[after] = after, before
	q.next[slot], q.prev[slot] = slot, slot
}
