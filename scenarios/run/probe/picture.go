package probe

import (
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/plot"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/probe/output"
)

// Picture is a line chart over time of a series' counters of one kind, such as the goodput of flows.
type Picture struct {
	File string // its name
	SVG  []byte
}

// titles lists the pictures of a series, in order.
var titles = []struct{ name, title, metric, unit string }{
	{Throughput, "Goodput of flows", "goodput", "Gbit/s"}, {Links, "Bytes on links", "rate", "Gbit/s"},
	{Memory, "Bytes of memories and caches", "rate", "Gbit/s"},
	{Channels, "Bytes of DRAM channels", "rate", "Gbit/s"},
	{Private, "Bytes between cores' caches and memory", "rate", "Gbit/s"},
	{Lookups, "Hits and misses of last-level caches", "rate", "lines/us"},
	{Occupancy, "Occupancy of last-level caches", "lines", "lines"},
	{Credits, "Credits", "credits", "entries"}, {Queues, "Queues", "depth", "entries or B"},
	{Cores, "Busy cores", "busy", "share"}, {Activities, "What cores are busy with", "busy", "share"},
}

// Pictures draws the series as lines over time, one for each counter that ever moved.
func (s *Series) Pictures() (list []Picture) {
	for _, t := range titles {
		x := study.Series{Name: t.name, Title: t.title, Metric: t.metric, Unit: t.unit,
			Axes: []study.Axis{{Name: "time from the begin of the traffic", Unit: "us"}}}
		for k := range s.Counters {
			c := &s.Counters[k]
			if c.Picture != t.name || !s.Moved(k) {
				continue
			}
			for i := range s.Intervals() {
				_, to := s.Interval(i)
				x.Points = append(x.Points, study.Point{System: c.Where + ", " + c.What,
					At: []float64{float64(to) / float64(simcore.Microsecond)}, Value: s.Value(i, k)})
			}
		}
		if len(x.Points) > 0 {
			list = append(list, Picture{output.Picture(t.name), plot.Series(&x)})
		}
	}
	return list
}
