package boundary

// Stalls decides in which cycles the streams of a device stall: an output as if the other side were
// not ready, an input as if the other side offered nothing.
type Stalls interface {
	// Of returns a function that reports, for each cycle, whether a stream stalls; nil means never.
	// Devices call it beat by beat. Its result for a cycle is always the same, and no stream stalls
	// forever.
	Of(stream string) func(cycle int64) bool
}
