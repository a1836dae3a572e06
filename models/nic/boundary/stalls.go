package boundary

// Stalls say in which cycles the streams of a device stand still: at an
// output, as if the other side took nothing; at an input, as if nothing were
// offered.
type Stalls interface {
	// Of returns what a device asks, beat by beat, for a stream: does it stand
	// still in this cycle? Nil: it never does. The answer for a cycle is always
	// the same, and no stream stands still for ever.
	Of(stream string) func(cycle int64) bool
}
