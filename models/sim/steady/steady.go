package steady

import (
	"math"

	"nictwin/models/sim/simcore"
)

// Requirements of every measured rate.
const (
	MinRoundTrips = 500  // completions, at least
	Precision     = 0.01 // half width of the 95% confidence interval, relative to the mean
	MinBatches    = 10   // batches without which there is no confidence interval
)

// Meter estimates a rate of completions by the method of batch means: completions during warm-up are not
// counted, then rates of batches with equal numbers of completions are taken until their mean is known to
// Precision.
type Meter struct {
	warm, batch int
	least, most int // batches

	seen    int        // number of completions seen
	now     simcore.Ps // time of the latest completion
	started bool       // the warm-up is over
	start   simcore.Ps // start of the first batch

	count int        // completions in the batch
	bytes uint64     // bytes in the batch
	begin simcore.Ps // start of the batch

	trips  int       // completions of all finished batches
	total  uint64    // bytes of all finished batches
	spans  []span    // finished batches
	paces  []float64 // time per byte of each batch, in picoseconds
	merges bool      // Estimate judges merged batches
	over   bool      // the rate is known: later completions are not counted
}

// span is a finished batch.
type span struct {
	took  simcore.Ps
	bytes uint64
}

func (s span) pace() float64 { return float64(s.took) / float64(s.bytes) }

// New returns a meter that skips the first `warm` completions, and then counts batches of `batch` completions until
// the rate is known from at least `least` batches, or `most` batches have ended. A confidence interval takes at least
// MinBatches.
func New(warm, batch, least, most int) *Meter {
	return &Meter{warm: warm, batch: max(batch, 1), least: max(least, MinBatches), most: most}
}

// Doubling has Estimate judge merged batches (see package comment), so that completions may come in waves longer than a
// batch. It also doubles the most batches as many times as given.
func (m *Meter) Doubling(times int) *Meter {
	m.merges = true
	m.most <<= times
	return m
}

// Warm reports whether the warm-up is over, and completions are counted.
func (m *Meter) Warm() bool { return m.started }

// Over reports whether the rate is known, or the last batch has ended: later completions are not counted.
func (m *Meter) Over() bool { return m.over }

// Done counts a completion and reports whether the measurement continues. Once the rate is known it counts nothing. A
// batch ends only when time has advanced, so that completions of one burst are in one batch.
func (m *Meter) Done(now simcore.Ps, bytes int) (more bool) {
	if now > m.now {
		m.settle()
	}
	if m.over {
		return false
	}
	m.seen++
	m.now = now
	if m.started {
		m.count++
		m.bytes += uint64(bytes)
	}
	return true
}

// settle ends the current batch at the latest completion, if the batch has enough completions.
func (m *Meter) settle() {
	switch {
	case m.over:
	case !m.started:
		m.started = m.seen >= m.warm
		m.start, m.begin = m.now, m.now
	case m.count >= m.batch:
		s := span{m.now - m.begin, m.bytes}
		m.spans, m.paces = append(m.spans, s), append(m.paces, s.pace())
		m.trips, m.total = m.trips+m.count, m.total+m.bytes
		m.begin, m.bytes, m.count = m.now, 0, 0
		m.over = len(m.paces) >= m.most || len(m.paces) >= m.least && m.Estimate().Converged
	}
}

// Estimate is a rate with its precision.
type Estimate struct {
	Rate       float64 // bytes per picosecond
	Half       float64 // half width of its 95% confidence interval
	RoundTrips int     // number of completions counted
	Bytes      uint64  // of these
	Batches    int     // that they came in
	Converged  bool    // Half is at most Precision of Rate
	From, Span simcore.Ps

	correlation float64 // of neighbouring batches; 0 if negative
}

// Estimate returns the estimate so far.
func (m *Meter) Estimate() Estimate {
	e := Estimate{RoundTrips: m.trips, Bytes: m.total, Batches: len(m.paces), Span: m.begin - m.start, From: m.start}
	if len(m.paces) == 0 || e.Span <= 0 {
		return e
	}
	e.Rate = float64(m.total) / float64(e.Span)
	if m.merges {
		e.merge(m.spans)
	} else {
		e.settle(m.paces, MinBatches)
	}
	return e
}

// Mean estimates the mean of the values of batches of equal lengths: Estimate.Rate is the mean.
func Mean(values []float64) Estimate {
	e := Estimate{Batches: len(values)}
	for _, v := range values {
		e.Rate += v / float64(len(values))
	}
	e.settle(values, MinBatches)
	return e
}

// settle sets the half width of the interval from one value per batch: the rate has the same relative precision as the
// mean of these values. Fewer than `least` have no interval.
func (e *Estimate) settle(values []float64, least int) {
	n := len(values)
	if n < least {
		return
	}
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(n)
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	if mean <= 0 || math.IsInf(mean, 1) { // completions without bytes
		return
	}
	half := student(float64(n-1)) * math.Sqrt(sum/float64(n-1)/float64(n)) / mean
	e.Half, e.Converged = half*e.Rate, half <= Precision
	e.correlation = max(0, correlation(values, mean, sum, mean))
}

// Widened returns the estimate with the interval of batch means by Student's quantile, corrected for the correlation of
// neighbours (lag 1) as in a first-order autoregression. Where a rate drifts, or steps once, batches are not
// independent, and the interval in field Half is too narrow. The corrected one is no 95% interval either: a few batches
// show only a part of their correlation. It contains the mean of independent batches in 95 of 100 runs, and that of
// batches whose neighbours correlate by 0.7 in at least 80, if they are 20; four tell next to nothing of a drift.
func (e Estimate) Widened() Estimate {
	if e.correlation > 0 {
		e.Half *= math.Sqrt((1 + e.correlation) / (1 - e.correlation))
		e.Converged = e.Converged && e.Relative() <= Precision
	}
	return e
}

// Gbps returns the rate in Gbit/s.
func (e Estimate) Gbps() float64 { return e.Rate * 8e3 }

// HalfGbps returns the half width of the interval in Gbit/s.
func (e Estimate) HalfGbps() float64 { return e.Half * 8e3 }

// Relative returns the half width as a fraction of the rate.
func (e Estimate) Relative() float64 {
	if e.Rate == 0 {
		return 0
	}
	return e.Half / e.Rate
}
