// Package fifo is a first-in, first-out queue that grows to what it has to
// hold and then allocates nothing. It has no bound of its own: whoever pushes
// keeps it.
package fifo

// Queue is a FIFO of values. The zero value is empty and ready for use.
type Queue[T any] struct {
	buf     []T
	head, n int
}

// Len is the number of values in the queue.
func (q *Queue[T]) Len() int { return q.n }

// Push appends a value.
func (q *Queue[T]) Push(v T) {
	if q.n == len(q.buf) {
		q.grow()
	}
	i := q.head + q.n
	if i >= len(q.buf) {
		i -= len(q.buf)
	}
	q.buf[i] = v
	q.n++
}

func (q *Queue[T]) grow() {
	const least = 8
	buf := make([]T, max(least, 2*len(q.buf)))
	n := copy(buf, q.buf[q.head:])
	copy(buf[n:], q.buf[:q.head])
	q.buf, q.head = buf, 0
}

// Front is the oldest value of a queue that is not empty. It is good until
// the next Push or Pop.
func (q *Queue[T]) Front() *T { return &q.buf[q.head] }

// Pop removes and returns the oldest value of a queue that is not empty.
func (q *Queue[T]) Pop() T {
	v := q.buf[q.head]
	var zero T
	q.buf[q.head] = zero // holds no reference longer than needed
	if q.head++; q.head == len(q.buf) {
		q.head = 0
	}
	q.n--
	return v
}
