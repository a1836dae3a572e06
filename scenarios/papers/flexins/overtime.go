package flexins

import (
	"fmt"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/probe"
)

// received names the flow that comes and goes in series.
const received = "flow that is received"

// overTime records the payload that each design sends over time, and the flow that comes and goes meanwhile.
func overTime(s *study.Session, designs []string) error {
	var scenes []*scene
	for _, d := range designs {
		scenes = append(scenes, timeScene(s, d))
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("over_time", "Payload sent while a flow is received for a time", "rate", "Gbps",
		study.Axis{Name: "time", Unit: "ms"})
	for i, p := range all {
		addOverTime(x, designs[i], p.Series, scenes[i].warm, func(c *probe.Counter) bool {
			return c.Picture == probe.Throughput
		})
	}
	addOverTime(x, received, all[0].Series, scenes[0].warm, func(c *probe.Counter) bool {
		return strings.HasPrefix(c.What, "captures into")
	})
	s.Record(x)
	return nil
}

// timePoints is the number of points of a curve over time, about.
const timePoints = 100

// addOverTime adds the sum of some counters over time, from the end of the warm-up on.
func addOverTime(x *study.Series, system string, series *probe.Series, warm simcore.Ps,
	counted func(*probe.Counter) bool) {
	step := max(series.Intervals()/timePoints, 1)
	for i := 0; i+step <= series.Intervals(); i += step {
		from, _ := series.Interval(i)
		_, to := series.Interval(i + step - 1)
		if from < warm {
			continue
		}
		rate := 0.0
		for k := range series.Counters {
			if !counted(&series.Counters[k]) {
				continue
			}
			for n := i; n < i+step; n++ {
				begin, end := series.Interval(n)
				rate += series.Value(n, k) * float64(end-begin) / float64(to-from)
			}
		}
		x.Add(system, rate, float64((from+to)/2-warm)/float64(milli))
	}
}

// timeScene returns a scene in which another flow is received for a part of the window.
func timeScene(s *study.Session, d string) *scene {
	c := duplexScene(s, d, before)
	c.name, c.series = d+", over time", true
	begin, length := s.Input("rx.begin"), s.Input("rx.length")
	whole := 2*begin + length // as much behind the flow as before it
	c.window = simcore.Ps(whole * float64(milli))
	c.captures = capturesOf(s)
	part := float64(c.point(s).Span(s)) / whole
	from := c.warm + simcore.Ps(begin*part)
	c.captureFields = fmt.Sprintf("server: 0, rate: %.1fGbps, from: %dps, until: %dps", receivedRate(s), from,
		from+simcore.Ps(length*part))
	return c
}

// capturesOf returns the flow that is received.
func capturesOf(s *study.Session) *arriving {
	return &arriving{first: int(s.Input("connections")), cores: int(s.Input("rx.cores")),
		payload: int(s.Input("rx.payload"))}
}

// receivedRate returns the rate of that flow at a port, in Gbps. The acknowledgements of the flow under test share the
// cables: headers alone, one for each packet.
func receivedRate(s *study.Session) float64 { return goodput(s, portGbps, s.Input("payload")) }
