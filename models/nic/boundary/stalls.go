package boundary

// Stalls stalls the streams of a device in chosen cycles: an output as if the other side took
// nothing, an input as if nothing were offered.
type Stalls interface {
	// Of returns a function that reports, for each cycle, whether a stream stalls; nil means never.
	// Devices call it beat by beat. Its result for a cycle is always the same, and no stream stalls
	// forever.
	Of(stream string) func(cycle int64) bool
}
