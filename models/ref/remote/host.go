package remote

import (
	"slices"

	"nictwin/models/ref"
)

// Offer adds a transaction for an input to the answer.
func (s *server) Offer(o ref.Offer) {
	s.offers = append(s.offers, Offer{Stream: s.number[o.Stream.Name], Delay: o.Delay, Side: o.Side, Data: o.Data,
		Answer: o.Answer})
}

// Job gives a piece of work its number, and reports whether this run includes it.
func (s *server) Job() bool {
	id := s.jobs
	s.jobs++
	return !s.setup.Some || slices.ContainsFunc(s.setup.Keep, func(x [2]int) bool { return id >= x[0] && id <= x[1] })
}

// Now returns the number of cycles that the device has run.
func (s *server) Now() uint64 { return s.now.Cycle }

// Observed returns the value of an output that the manifest observes.
func (s *server) Observed(name string) (uint64, bool) {
	i := slices.Index(s.setup.Observe, name)
	if i < 0 {
		return 0, false
	}
	if i >= len(s.now.Observed) {
		return 0, true
	}
	return s.now.Observed[i], true
}

// Parameter returns a parameter of the build.
func (s *server) Parameter(name string) (string, bool) {
	v, ok := s.setup.Parameters[name]
	return v, ok
}
