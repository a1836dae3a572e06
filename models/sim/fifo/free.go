package fifo

// Free is a free list: values that are reused instead of allocated. The zero value is empty and
// ready for use.
type Free[T any] struct{ idle []*T }

// Get returns the value that was put back last, unchanged, or a zero one, for which fresh is true.
func (f *Free[T]) Get() (v *T, fresh bool) {
	n := len(f.idle)
	if n == 0 {
		return new(T), true
	}
	v, f.idle = f.idle[n-1], f.idle[:n-1]
	return v, false
}

// Put returns an unused value to the list.
func (f *Free[T]) Put(v *T) { f.idle = append(f.idle, v) }
