package point

import (
	"strings"

	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/stats"
)

// record records the run of a point, with the precision of the rate of all flows.
func (p *Played) record(s *study.Session) {
	r := study.Run{Name: p.Name, RoundTrips: p.Rate.Messages, Converged: p.Rate.Converged, SimPs: int64(p.Sim),
		Scale: 1, Relative: Relative(&p.Rate)}
	s.Outcome.Runs = append(s.Outcome.Runs, r)
}

// Relative returns the half width of the interval of a rate, relative to the rate; 1 if it has none.
func Relative(r *stats.Rate) float64 {
	switch {
	case r.Half != nil && r.Gbps > 0:
		return *r.Half / r.Gbps
	case r.HalfMessages != nil && r.PerSecond > 0:
		return *r.HalfMessages / r.PerSecond
	}
	return 1
}

// Of returns the rate of the flows of one of several workloads, by the beginning of its name, and records it as a run.
// The interval is that of their sum.
func (p *Played) Of(s *study.Session, workload string) stats.Rate {
	sum := p.Stats.RateOf(func(f *stats.FlowRate) bool {
		return strings.HasPrefix(f.Workload, workload) || f.Workload == "" // one workload has no name in the results
	})
	sum.Converged = sum.Converged && sum.Messages >= study.MinRoundTrips
	s.Outcome.Runs = append(s.Outcome.Runs, study.Run{Name: p.Name + ", " + workload, RoundTrips: sum.Messages,
		Converged: sum.Converged, SimPs: int64(p.Sim), Scale: 1, Relative: Relative(&sum)})
	return sum
}

// Add adds a rate to a series.
func Add(x *study.Series, system string, r *stats.Rate, at ...float64) {
	p := study.Point{System: system, At: at, Value: r.Gbps, RoundTrips: r.Messages}
	if r.Half != nil {
		p.Half = *r.Half
	}
	x.Points = append(x.Points, p)
}

// Bar adds a rate to a series at a name on its first axis.
func Bar(x *study.Series, system, label string, r *stats.Rate) {
	Add(x, system, r)
	x.Bars = true
	p := &x.Points[len(x.Points)-1]
	p.At, p.Label = []float64{}, label
}
