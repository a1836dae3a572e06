package golden

// fifo is a queue in a ring that grows.
type fifo[T any] struct {
	s       []T
	head, n int
}

const firstFifo = 16

func (f *fifo[T]) push(v T) {
	if f.n == len(f.s) {
		f.grow()
	}
	f.s[(f.head+f.n)&(len(f.s)-1)] = v
	f.n++
}

func (f *fifo[T]) grow() {
	next := make([]T, max(firstFifo, 2*len(f.s)))
	for i := range f.n {
		next[i] = *f.at(i)
	}
	f.s, f.head = next, 0
}

// at is the i-th element from the front.
func (f *fifo[T]) at(i int) *T { return &f.s[(f.head+i)&(len(f.s)-1)] }

func (f *fifo[T]) front() *T { return f.at(0) }

func (f *fifo[T]) pop() T {
	v := *f.at(0)
	var zero T
	*f.at(0) = zero
	f.head = (f.head + 1) & (len(f.s) - 1)
	f.n--
	return v
}

// drop takes out the i-th element.
func (f *fifo[T]) drop(i int) {
	for ; i > 0; i-- {
		*f.at(i) = *f.at(i - 1)
	}
	f.pop()
}

// pool is a free list.
type pool[T any] struct{ free []*T }

func (p *pool[T]) get() *T {
	if n := len(p.free); n > 0 {
		v := p.free[n-1]
		p.free = p.free[:n-1]
		return v
	}
	return new(T)
}

func (p *pool[T]) put(v *T) { p.free = append(p.free, v) }
