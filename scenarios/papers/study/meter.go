package study

import (
	"math"
	"slices"

	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
)

// Requirements of every measured rate. MinRoundTrips is the least number of round trips, whatever Session.Percent is.
const (
	MinRoundTrips = steady.MinRoundTrips
	Precision     = steady.Precision
	batches       = 2 * steady.MinBatches // in the fewest round trips: they are judged merged in pairs, too
	longer        = 6                     // times as many round trips, at most, until the rate is known
)

// Meter estimates a rate, Estimate is what it returns.
type (
	Meter    = steady.Meter
	Estimate = steady.Estimate
)

// NewMeter returns a meter that counts at least Session.Percent percent of the given number of round trips, and at
// least MinRoundTrips, after a warm-up of a tenth of that number. Until the rate is known it goes on, to six times
// as many, or Session.Percent percent of that, if it is less than 100.
func (s *Session) NewMeter(roundTrips int) *Meter { return s.NewMeterAfter(0, roundTrips) }

// NewMeterAfter returns a meter like that of NewMeter, whose warm-up is longer by `warm` round trips, for example to
// fill a cache. Session.Percent does not scale these. Meter.Doubling(1) lets it go on twice as long for claims.
func (s *Session) NewMeterAfter(warm, roundTrips int) *Meter {
	n := s.Scale(roundTrips, MinRoundTrips)
	most := min(s.Scale(longer*batches, batches), longer*batches)
	return steady.New(warm+n/10+1, (n+batches-1)/batches, batches, most).Doubling(0)
}

// QuantileOf estimates a quantile of times, which are sorted afterwards: Estimate.Rate is its inverse. The interval is
// that between the order statistics which contain the quantile in 95 of 100 samples. If they lie beyond the sample, as
// with fewer than 4,000 times for 99.9%, the quantile is not known.
func QuantileOf(times []simcore.Ps, q float64) Estimate {
	slices.Sort(times)
	n := float64(len(times))
	const z95 = 1.96
	around := z95 * math.Sqrt(n*q*(1-q))
	at := func(rank float64) float64 {
		return float64(times[max(min(int(math.Ceil(rank)), len(times)), 1)-1])
	}
	if len(times) == 0 {
		return Estimate{}
	}
	value := at(n * q)
	e := Estimate{Rate: 1 / value, RoundTrips: len(times), Batches: 1}
	e.Half = (at(n*q+around) - at(n*q-around)) / 2 / value * e.Rate
	e.Converged = n*q+around <= n && e.Relative() <= Precision
	return e
}

// MeanOf estimates a mean time: Estimate.Rate is the inverse of the mean of the given times, in the order in which they
// were measured.
func MeanOf(times []simcore.Ps) Estimate {
	m := steady.New(0, 1, len(times), len(times)).Doubling(0)
	now := simcore.Ps(0)
	for _, t := range times {
		now += t
		m.Done(now, 1)
	}
	m.Done(now+1, 1) // a batch ends with the next completion
	return m.Estimate()
}
