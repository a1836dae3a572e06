package ceio

import (
	"strings"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// timeline records the burst as a series over time, everything as a share: the rate of the expected one in the last
// phase, I/O lines of the ways of devices, lookups of I/O buffers that miss, and credits in use of all.
func timeline(s *study.Session, c *changes) {
	const perRequest, deviceLines = 120, 6 << 20 / 64
	x := study.NewSeries("burst_timeline", "A burst on four systems: rate, cache of devices, misses, "+
		"credits", "share", "",
		study.Axis{Name: "time", Unit: "phases"})
	full := c.expected(len(c.involved) - 1).Value
	for _, k := range allSystems {
		p := c.at[k]
		step := max(p.Series.Intervals()/timelinePoints, 1)
		for i := 0; i+step <= p.Series.Intervals(); i += step {
			a, _ := p.Series.Interval(i)
			_, b := p.Series.Interval(i + step - 1)
			at := float64(a+b) / 2 / float64(c.own[k].length)
			mean := func(counter func(where, what string) bool) float64 { return meanOf(p, i, step, counter) }
			named := func(name string) float64 {
				return mean(func(where, what string) bool { return where == "Server" && what == name })
			}
			rate := mean(func(where, what string) bool {
				return strings.HasPrefix(where, "store") && strings.HasSuffix(what, "to Server")
			})
			x.Add(string(k)+": rate", rate*1e3/8/perRequest/full, at)
			x.Add(string(k)+": cache", named("host socket 0 LLC device, I/O buffers")/deviceLines, at)
			hit, miss := named(bufferHits), named(bufferMisses)
			x.Add(string(k)+": misses", miss/max(hit+miss, 1e-9), at)
			if k == withCEIO {
				x.Add(string(k)+": credits", named("credits in use")/s.Input("credits"), at)
			}
		}
	}
	s.Record(x)
}

// timelinePoints is the number of points of a timeline.
const timelinePoints = 60

// meanOf returns the mean of the sum of some counters over intervals of a point.
func meanOf(p *point.Played, first, n int, counter func(where, what string) bool) float64 {
	sum := 0.0
	for k := range p.Series.Counters {
		c := &p.Series.Counters[k]
		if !counter(c.Where, c.What) {
			continue
		}
		for i := first; i < first+n; i++ {
			sum += p.Series.Value(i, k)
		}
	}
	return sum / float64(n)
}
