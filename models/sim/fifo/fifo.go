// Package fifo is a first-in, first-out queue that grows to its largest length
// and then allocates nothing. It has no bound of its own: the caller that pushes
// keeps one. Values can be accessed in place and removed at either end or in
// between. Slots is a queue of small numbers from which each can be removed in
// constant time.
package fifo

// Queue is a first-in, first-out queue of values. The zero value is empty and ready for use.
type Queue[T any] struct {
	buf     []T
	head, n int
}

// Len returns the number of values in the queue.
func (q *Queue[T]) Len() int { return q.n }

// Push appends a value.
func (q *Queue[T]) Push(v T) {
	if q.n == len(q.buf) {
		q.grow()
	}
	q.n++
	*q.At(q.n - 1) = v
}

func (q *Queue[T]) grow() {
	const least = 8
	buf := make([]T, max(least, 2*len(q.buf)))
	n := copy(buf, q.buf[q.head:])
	copy(buf[n:], q.buf[:q.head])
	q.buf, q.head = buf, 0
}

// At returns a pointer to the value with i others before it; the queue must have more than i. The
// pointer is valid until the next change of the queue.
func (q *Queue[T]) At(i int) *T {
	if i += q.head; i >= len(q.buf) {
		i -= len(q.buf)
	}
	return &q.buf[i]
}

// PopLast removes and returns the newest value; the queue must not be empty.
func (q *Queue[T]) PopLast() T {
	last := q.At(q.n - 1)
	v := *last
	var zero T
	*last = zero
	q.n--
	return v
}

// Remove takes out the value with i others before it; the others keep their order.
func (q *Queue[T]) Remove(i int) {
	for ; i > 0; i-- {
		*q.At(i) = *q.At(i - 1)
	}
	q.Pop()
}

// Front returns a pointer to the oldest value; the queue must not be empty. The pointer is valid
// until the next change of the queue.
func (q *Queue[T]) Front() *T { return &q.buf[q.head] }

// Pop removes and returns the oldest value; the queue must not be empty.
func (q *Queue[T]) Pop() T {
	v := q.buf[q.head]
	var zero T
	q.buf[q.head] = zero // do not keep what it refers to from the garbage collector
	q.n--
	if q.head++; q.head == len(q.buf) || q.n == 0 { // empty: start over at slot 0, which is in the cache
		q.head = 0
	}
	return v
}
