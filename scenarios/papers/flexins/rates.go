package flexins

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// round returns the time of an exchange of so many messages, in microseconds, if one is under way at a time: from a
// post to the next one. Latencies of all messages contain the first ones, whose pages and rings are cold.
func (p *played) round(messages int) float64 { return 1e6 * float64(messages) / p.Rate.PerSecond }

// addRound adds the time of an exchange to a series.
func (p *played) addRound(x *study.Series, system string, messages int, at ...float64) {
	v := p.round(messages)
	x.Points = append(x.Points, study.Point{System: system, At: at, Value: v, Half: v * point.Relative(&p.Rate),
		RoundTrips: p.Rate.Messages / messages})
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
		for i := range p.Times {
			if l := &p.Times[i]; l.Measure == event {
				const micro = float64(simcore.Microsecond)
				e.spread, known = float64(l.P90-l.P50)/micro, true
			}
		}
	}
	if !known {
		return e, fmt.Errorf("%s: no latencies of completions or answers: want some", p.Name)
	}
	return e, nil
}
