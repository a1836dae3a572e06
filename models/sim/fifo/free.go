package fifo

// Free is a free list: values that are used again instead of being allocated anew. The zero value is empty and ready
// for use.
type Free[T any] struct{ idle []*T }

// Get returns the value that was put back last, as it was then, or a zero one that is fresh.
func (f *Free[T]) Get() (v *T, fresh bool) {
	n := len(f.idle)
	if n == 0 {
		return new(T), true
	}
	v, f.idle = f.idle[n-1], f.idle[:n-1]
	return v, false
}

// Put takes a value back that nobody uses any more.
func (f *Free[T]) Put(v *T) { f.idle = append(f.idle, v) }
