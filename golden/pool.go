package golden

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
