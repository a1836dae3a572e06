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

// t95 lists the 97.5% quantiles of Student's distribution by degrees of freedom, from MinBatches-1 on; the last one
// serves for more.
var t95 = []float64{2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074,
	2.069, 2.064}

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

	trips   int       // completions of all finished batches
	total   uint64    // bytes of all finished batches
	spans   []span    // finished batches
	paces   []float64 // time per byte of each batch, in picoseconds
	doubles int       // number of times that batches may still double
	over    bool      // the rate is known: later completions are not counted
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

// Doubling lets the meter merge batches in pairs when the last one has ended and the rate is not known: completions
// that come in waves longer than a batch make batches differ, and batches of several waves do not. It may go on with
// the longer batches, to the full number of them, as many times as given.
func (m *Meter) Doubling(times int) *Meter {
	m.doubles = times + 1
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
		m.over = len(m.paces) >= m.least && m.Estimate().Converged
		if !m.over && len(m.paces) >= m.most {
			m.last()
		}
	}
}

// last merges batches, as many as still make an interval, after the last one has ended. If the rate is not known from
// these either, it goes on with batches of twice the length, if it may.
func (m *Meter) last() {
	m.over = m.doubles == 0
	if m.over {
		return
	}
	m.doubles--
	twice := merged(m.spans)
	for next := twice; len(next) >= MinBatches; next = merged(next) {
		m.spans = next
		m.paces = m.paces[:0]
		for _, s := range next {
			m.paces = append(m.paces, s.pace())
		}
		if m.over = m.Estimate().Converged; m.over {
			return
		}
	}
	if m.over = m.doubles == 0; m.over {
		return
	}
	m.batch *= 2
	m.spans, m.paces = twice, m.paces[:0]
	for _, s := range twice {
		m.paces = append(m.paces, s.pace())
	}
}

// merged returns batches of two each. A single batch at the end is left out of them.
func merged(all []span) []span {
	pairs := make([]span, 0, len(all)/2)
	for i := 0; i+1 < len(all); i += 2 {
		pairs = append(pairs, span{all[i].took + all[i+1].took, all[i].bytes + all[i+1].bytes})
	}
	return pairs
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
	e.settle(m.paces)
	return e
}

// settle sets the half width of the interval from one value per batch: the rate has the same relative precision as the
// mean of these values.
func (e *Estimate) settle(values []float64) {
	n := len(values)
	if n < MinBatches {
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
	q := t95[min(n-MinBatches, len(t95)-1)]
	half := q * math.Sqrt(sum/float64(n-1)/float64(n)) / mean
	e.Half, e.Converged, e.correlation = half*e.Rate, half <= Precision, correlation(values, mean, sum)
}

// Ratio estimates a rate from marks of time, each with the bytes so far: bytes over time of all batches, which are from
// mark to mark and may differ in length. The interval is that of a ratio estimator. Batches are merged as with
// Meter.Doubling until the rate is known or fewer than MinBatches would be left, from which no interval follows.
func Ratio(at []simcore.Ps, bytes []uint64) Estimate {
	n := len(at) - 1
	if n < 1 || at[n] <= at[0] {
		return Estimate{}
	}
	e := Estimate{RoundTrips: n, Bytes: bytes[n] - bytes[0], From: at[0], Span: at[n] - at[0]}
	e.Rate = float64(e.Bytes) / float64(e.Span)
	spans := make([]span, n)
	for i := range spans {
		spans[i] = span{at[i+1] - at[i], bytes[i+1] - bytes[i]}
	}
	for ; len(spans) >= MinBatches && !e.Converged; spans = merged(spans) {
		e.Batches, e.Half = len(spans), e.ratioHalf(spans)
		e.Converged = e.Half <= Precision*e.Rate
	}
	return e
}

// ratioHalf returns the half width of the interval of a ratio.
func (e *Estimate) ratioHalf(spans []span) float64 {
	n, sum, took := len(spans), 0.0, 0.0
	for _, s := range spans {
		d := float64(s.bytes) - e.Rate*float64(s.took)
		sum, took = sum+d*d, took+float64(s.took)
	}
	return t95[min(n-MinBatches, len(t95)-1)] * math.Sqrt(sum/float64(n-1)/float64(n)) / (took / float64(n))
}

// correlation returns the correlation of neighbouring values by von Neumann's ratio (Annals of Mathematical Statistics
// 12, 1941), with their mean and the sum of the squares of their deviations; 0 if it is negative.
func correlation(values []float64, mean, sum float64) float64 {
	const rounding = 1e-24 // of the square of the mean: values that differ by no more are equal
	if sum <= rounding*mean*mean {
		return 0
	}
	steps := 0.0
	for i, v := range values[1:] {
		steps += (v - values[i]) * (v - values[i])
	}
	return max(0, 1-steps/sum/2)
}

// Widened returns the estimate with the interval of batch means by Student's quantile, corrected for the correlation of
// neighbours (lag 1) as in a first-order autoregression. Where a rate drifts, or steps once, batches are not
// independent, and the interval in field Half is too narrow. The corrected one is no 95% interval either: a few batches
// show only a part of their correlation. It contains the mean of independent batches in 95 of 100 runs, and that of
// batches whose neighbours correlate by 0.7 in at least 80.
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
