// Package fifo is a first-in, first-out queue that grows to what it has to
// hold and then allocates nothing. It has no bound of its own: whoever pushes
// keeps it. Its values can be looked at in place, and those at either end or
// between taken out.
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

// At is the value that i others are ahead of, of a queue that has more than i.
// It is good until the next change of the queue.
func (q *Queue[T]) At(i int) *T {
	if i += q.head; i >= len(q.buf) {
		i -= len(q.buf)
	}
	return &q.buf[i]
}

// PopLast removes and returns the youngest value of a queue that is not empty.
func (q *Queue[T]) PopLast() T {
	last := q.At(q.n - 1)
	v := *last
	var zero T
	*last = zero
	q.n--
	return v
}

// Remove takes out the value that i others are ahead of; those keep their order.
func (q *Queue[T]) Remove(i int) {
	for ; i > 0; i-- {
		*q.At(i) = *q.At(i - 1)
	}
	q.Pop()
}

// Front is the oldest value of a queue that is not empty. It is good until
// the next change of the queue.
func (q *Queue[T]) Front() *T { return &q.buf[q.head] }

// Pop removes and returns the oldest value of a queue that is not empty.
func (q *Queue[T]) Pop() T {
	v := q.buf[q.head]
	var zero T
	q.buf[q.head] = zero // holds no reference longer than needed
	q.n--
	if q.head++; q.head == len(q.buf) || q.n == 0 { // empty: the slots used last are the next ones, and near at hand
		q.head = 0
	}
	return v
}
