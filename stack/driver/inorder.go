package driver

// InOrder posts buffers of a receive queue, which are free again in any order, in the order of their numbers: so
// payload of consecutive frames is adjacent in memory if the buffers are.
type InOrder struct {
	post   func(i uint64) error
	free   []bool // by buffer: free, and not posted
	oldest uint64 // buffer to post next
}

// NewInOrder returns an order of n buffers, all of them posted. `post` posts a buffer.
func NewInOrder(n int, post func(i uint64) error) *InOrder {
	return &InOrder{post: post, free: make([]bool, n)}
}

// Free takes back a buffer, and posts those that are free and next.
func (o *InOrder) Free(i uint64) error {
	o.free[i] = true
	for o.free[o.oldest] {
		if err := o.take(o.oldest); err != nil {
			return err
		}
		o.oldest = (o.oldest + 1) % uint64(len(o.free))
	}
	return nil
}

// Overtake posts at most n buffers that are free while earlier ones are in use, for a NIC that is short of buffers.
func (o *InOrder) Overtake(n int) error {
	size := uint64(len(o.free))
	for k := uint64(0); n > 0 && k < size; k++ {
		i := (o.oldest + k) % size
		if !o.free[i] {
			continue
		}
		if err := o.take(i); err != nil {
			return err
		}
		n--
	}
	return nil
}

func (o *InOrder) take(i uint64) error {
	o.free[i] = false
	return o.post(i)
}
