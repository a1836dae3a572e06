package memory

// Pool is a free list. The zero value is empty and ready for use.
type Pool[T any] struct{ free []*T }

// Get returns a value passed to Put, unchanged, or a new one.
func (p *Pool[T]) Get() *T {
	if n := len(p.free); n > 0 {
		v := p.free[n-1]
		p.free = p.free[:n-1]
		return v
	}
	return new(T)
}

// Put makes a value available to Get.
func (p *Pool[T]) Put(v *T) { p.free = append(p.free, v) }

// Len returns the number of values available.
func (p *Pool[T]) Len() int { return len(p.free) }
