package study

import "nictwin/models/sim/steady"

// Requirements of every measured rate. MinRoundTrips is the least number of round trips, whatever Session.Percent is.
const (
	MinRoundTrips = steady.MinRoundTrips
	Precision     = steady.Precision
	batches       = steady.MinBatches
	most          = 60 // maximum number of batches, after which the rate is reported with the precision reached
)

// Meter estimates a rate, Estimate is what it returns.
type (
	Meter    = steady.Meter
	Estimate = steady.Estimate
)

// NewMeter returns a meter that counts at least Session.Percent percent of the given number of round trips, and at
// least MinRoundTrips, after a warm-up of a tenth of that number.
func (s *Session) NewMeter(roundTrips int) *Meter { return s.NewMeterAfter(0, roundTrips) }

// NewMeterAfter returns a meter like that of NewMeter, whose warm-up is longer by `warm` round trips, for example to
// fill a cache. Session.Percent does not scale these.
func (s *Session) NewMeterAfter(warm, roundTrips int) *Meter {
	n := s.Scale(roundTrips, MinRoundTrips)
	return steady.New(warm+n/10+1, (n+batches-1)/batches, batches, most)
}
