package study

import (
	"math"

	"nictwin/models/sim/simcore"
)

// What is demanded of every rate. MinRoundTrips is the least that an experiment may be cut to, whatever the percent.
const (
	MinRoundTrips = 500
	Precision     = 0.01 // half width of the 95% confidence interval, of the mean
	batches       = 10   // the least that an interval is made of
	most          = 60   // batches, after which a rate is given with the precision that it has
)

// t95 is the 97.5% quantile of Student's distribution by degrees of freedom, from batches-1 on; beyond the table the
// last.
var t95 = []float64{2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074,
	2.069, 2.064}

// Meter makes a rate of completions by the method of batch means: what completes while warming up is not counted, then
// rates are taken of batches of as many completions, until their mean is known to Precision.
type Meter struct {
	warm, batch int

	seen    int        // completions
	now     simcore.Ps // of the latest
	started bool       // it is warm
	start   simcore.Ps // of the first batch

	count int        // of the batch
	bytes uint64     // likewise
	begin simcore.Ps // likewise

	trips int       // of all batches that are over
	total uint64    // bytes, likewise
	paces []float64 // of each, in picoseconds a byte
	over  bool      // the rate is known: what comes later is not counted
}

// NewMeter wants at least so many round trips, of which a tenth more warm up.
func (s *Session) NewMeter(roundTrips int) *Meter {
	n := s.Scale(roundTrips, MinRoundTrips)
	return &Meter{warm: n/10 + 1, batch: (n + batches - 1) / batches}
}

// NewMeterAfter is NewMeter with so many round trips to warm up, whatever the percent: as many as fill a cache.
func (s *Session) NewMeterAfter(warm, roundTrips int) *Meter {
	m := s.NewMeter(roundTrips)
	m.warm += warm
	return m
}

// Warm reports whether completions are counted by now.
func (m *Meter) Warm() bool { return m.started }

// Done counts a completion and reports whether more are wanted. Once none are, it counts nothing. A batch ends between
// two instants: completions of one burst are in one batch.
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

// settle ends what is long enough at the latest completion.
func (m *Meter) settle() {
	switch {
	case m.over:
	case !m.started:
		m.started = m.seen >= m.warm
		m.start, m.begin = m.now, m.now
	case m.count >= m.batch:
		m.paces = append(m.paces, float64(m.now-m.begin)/float64(m.bytes))
		m.trips, m.total = m.trips+m.count, m.total+m.bytes
		m.begin, m.bytes, m.count = m.now, 0, 0
		m.over = len(m.paces) >= most || len(m.paces) >= batches && m.Estimate().Converged
	}
}

// Estimate is a rate and how sure it is.
type Estimate struct {
	Rate       float64 // bytes per picosecond
	Half       float64 // half width of its 95% confidence interval
	RoundTrips int     // that were counted
	Converged  bool    // Half is at most Precision of Rate
	Span       simcore.Ps
}

// Estimate is what is known so far.
func (m *Meter) Estimate() Estimate {
	n := len(m.paces)
	e := Estimate{RoundTrips: m.trips, Span: m.begin - m.start}
	if n == 0 || e.Span <= 0 {
		return e
	}
	e.Rate = float64(m.total) / float64(e.Span)
	if n < batches {
		return e
	}
	mean, sum := 0.0, 0.0
	for _, p := range m.paces {
		mean += p / float64(n)
	}
	for _, p := range m.paces {
		sum += (p - mean) * (p - mean)
	}
	q := t95[min(n-batches, len(t95)-1)]
	half := q * math.Sqrt(sum/float64(n-1)/float64(n)) / mean // of the pace, and so of the rate
	e.Half, e.Converged = half*e.Rate, half <= Precision
	return e
}

// Gbps is the rate in bits.
func (e Estimate) Gbps() float64 { return e.Rate * 8e3 }

func (e Estimate) halfGbps() float64 { return e.Half * 8e3 }

// Relative is the half width as a share of the rate.
func (e Estimate) Relative() float64 {
	if e.Rate == 0 {
		return 0
	}
	return e.Half / e.Rate
}
