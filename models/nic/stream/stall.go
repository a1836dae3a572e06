package stream

import "nictwin/models/nic/boundary"

// Stall determines the cycles in which a stream stalls.
type Stall struct {
	At func(cycle int64) bool // nil: never
}

// StallOf returns the stall of a stream by its name; none if s is nil.
func StallOf(s boundary.Stalls, stream string) Stall {
	if s == nil {
		return Stall{}
	}
	return Stall{s.Of(stream)}
}

// From returns the first cycle from the given one on in which the stream moves.
func (s *Stall) From(cycle int64) int64 {
	if s.At == nil {
		return cycle
	}
	for s.At(cycle) {
		cycle++
	}
	return cycle
}

// beats returns the cycle of the last of n beats, the first of which may move in the given cycle.
func (s *Stall) beats(cycle int64, n int) int64 {
	if s.At == nil {
		return cycle + int64(n) - 1
	}
	for {
		cycle = s.From(cycle)
		if n--; n == 0 {
			return cycle
		}
		cycle++
	}
}
