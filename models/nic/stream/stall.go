package stream

import "nictwin/models/nic/boundary"

// Stall decides in which cycles a stream stalls.
type Stall struct {
	At func(cycle int64) bool // reports whether the stream stalls in a cycle; nil: never
}

// StallOf returns the Stall of the stream with a name; it never stalls if s is nil.
func StallOf(s boundary.Stalls, stream string) Stall {
	if s == nil {
		return Stall{}
	}
	return Stall{s.Of(stream)}
}

// From returns the first cycle, not before the given one, without a stall.
func (s *Stall) From(cycle int64) int64 {
	if s.At == nil {
		return cycle
	}
	for s.At(cycle) {
		cycle++
	}
	return cycle
}

// beats returns the cycle of the last of n beats. The first moves in the given cycle or, if that
// stalls, in the next without a stall.
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
