package windows

import (
	"math"

	"nictwin/models/nic/nicspec"
)

// Span contains the cycles in which the first and the last beat of a frame or TLP were accepted.
type Span struct{ First, Last int64 }

// history lists the values of one setting, oldest first; the last one is in force. In an empty history, the zero
// value of T has always been in force.
type history[T comparable] []value[T]

type value[T comparable] struct {
	v           T
	from, until int64 // accepted in cycle `from`; in force up to cycle `until` at the latest
}

const maxValues = 256 // values kept per history

// start begins the history with a value that has always been in force.
func (h *history[T]) start(v T) {
	*h = append((*h)[:0], value[T]{v: v, from: math.MinInt64, until: math.MaxInt64})
}

// now returns the value in force.
func (h history[T]) now() (v T) {
	if len(h) > 0 {
		v = h[len(h)-1].v
	}
	return v
}

// record adds a value written in a cycle. It returns the last cycle in which the value before
// may be in force, math.MinInt64 if the value did not change.
func (h *history[T]) record(v T, cycle int64) (until int64) {
	if h.now() == v {
		return math.MinInt64
	}
	if len(*h) == 0 {
		var zero T
		h.start(zero)
	}
	if n := len(*h); n > maxValues {
		*h = append((*h)[:0], (*h)[n-maxValues/2:]...)
	}
	until = cycle + nicspec.VisibleCycles
	(*h)[len(*h)-1].until = until
	*h = append(*h, value[T]{v: v, from: cycle, until: math.MaxInt64})
	return until
}

// each calls visit for every value that may apply to a frame of the given span.
func (h history[T]) each(s Span, visit func(v T)) {
	if len(h) == 0 {
		var zero T
		visit(zero)
	}
	for _, o := range h {
		if o.until >= s.First && o.from <= s.Last+nicspec.VisibleCycles {
			visit(o.v)
		}
	}
}

// close ends every value whose successor was written before cycle `asked`: its last cycle becomes `now`, unless it was
// earlier.
func (h history[T]) close(asked, now int64) {
	for i := 1; i < len(h); i++ {
		if h[i].from < asked {
			h[i-1].until = min(h[i-1].until, now)
		}
	}
}

// quiet returns the last cycle in which a value other than the latest may be in force.
func (h history[T]) quiet() int64 {
	last := int64(math.MinInt64)
	for i := range len(h) - 1 {
		last = max(last, h[i].until)
	}
	return last
}
