package flexins

import (
	"fmt"
	"math"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/stats"
)

// record records the run of a point, with the precision of the rate of all flows.
func (p *played) record(s *study.Session) {
	r := study.Run{Name: p.name, RoundTrips: p.rate.Messages, Converged: p.rate.Converged, SimPs: int64(p.sim),
		Scale: 1, Relative: relative(&p.rate)}
	s.Outcome.Runs = append(s.Outcome.Runs, r)
	s.Outcome.SimPs += int64(p.sim)
}

// relative returns the half width of the interval of a rate, relative to the rate; 1 if it has none.
func relative(r *stats.Rate) float64 {
	if r.Half == nil || r.Gbps == 0 {
		return 1
	}
	return *r.Half / r.Gbps
}

// of returns the rate of the flows of one of several workloads, by its name. The half width is that of
// independent flows: flows that share a bottleneck take from each other, those that stall together vary more.
func (p *played) of(s *study.Session, workload string) stats.Rate {
	sum, square, known := stats.Rate{}, 0.0, true
	for i := range p.flows {
		f := &p.flows[i]
		if f.Workload != workload && f.Workload != "" { // a single workload has no name in the results
			continue
		}
		sum.Gbps += f.Gbps
		sum.PerSecond += f.PerSecond
		sum.Messages += f.Messages
		if f.Half == nil {
			known = false
			continue
		}
		square += *f.Half * *f.Half
	}
	half := math.Sqrt(square)
	sum.Half = &half
	sum.Converged = known && sum.Messages >= study.MinRoundTrips && half <= study.Precision*sum.Gbps
	s.Outcome.Runs = append(s.Outcome.Runs, study.Run{Name: p.name + ", " + workload, RoundTrips: sum.Messages,
		Converged: sum.Converged, SimPs: int64(p.sim), Scale: 1, Relative: relative(&sum)})
	return sum
}

// add adds a rate to a series.
func add(x *study.Series, system string, r *stats.Rate, at ...float64) {
	p := study.Point{System: system, At: at, Value: r.Gbps, RoundTrips: r.Messages}
	if r.Half != nil {
		p.Half = *r.Half
	}
	x.Points = append(x.Points, p)
}

// round returns the time of an exchange of so many messages, in microseconds, if one is under way at a time: from a
// post to the next one. Latencies of all messages contain the first ones, whose pages and rings are cold.
func (p *played) round(messages int) float64 { return 1e6 * float64(messages) / p.rate.PerSecond }

// addRound adds the time of an exchange to a series.
func (p *played) addRound(x *study.Series, system string, messages int, at ...float64) {
	v := p.round(messages)
	x.Points = append(x.Points, study.Point{System: system, At: at, Value: v, Half: v * relative(&p.rate),
		RoundTrips: p.rate.Messages / messages})
}

// bar adds a rate to a series at a name on its first axis.
func bar(x *study.Series, system, label string, r *stats.Rate) {
	add(x, system, r)
	x.Bars = true
	p := &x.Points[len(x.Points)-1]
	p.At, p.Label = []float64{}, label
}

// ended holds the time of whole exchanges, in microseconds.
type ended struct {
	mean, spread float64 // mean in the window; 90% less median
}

// end returns the time of exchanges of a message, and the spread of latencies to the last event that messages have:
// the answer, if they have one, else the completion. Without latencies there is no spread: that is an error.
func (p *played) end() (e ended, err error) {
	e.mean = p.round(1)
	known := false
	for _, event := range []string{"completion", "answer"} {
		for i := range p.times {
			if l := &p.times[i]; l.Measure == event {
				const micro = float64(simcore.Microsecond)
				e.spread, known = float64(l.P90-l.P50)/micro, true
			}
		}
	}
	if !known {
		return e, fmt.Errorf("%s: no latencies of completions or answers: want some", p.name)
	}
	return e, nil
}
