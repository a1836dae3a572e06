package probe

import (
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/chart"
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
	{Packets, "Packets of servers with credits, by path", "rate", "packets/us or times/us"},
	{Cores, "Busy cores", "busy", "share"}, {Activities, "What cores are busy with", "busy", "share"},
}

// Pictures draws the series as curves over time, one for each counter that ever moved.
func (s *Series) Pictures() (list []Picture) {
	for _, t := range titles {
		c := chart.Chart{
			Title: t.title,
			X:     chart.Axis{Name: "time from the begin of the traffic", Unit: "us"},
			Y:     chart.Axis{Name: t.metric, Unit: t.unit, Zero: true}, Strips: true,
		}
		for k := range s.Counters {
			if s.Counters[k].Picture == t.name && s.Moved(k) {
				c.Series = append(c.Series, s.curve(k))
			}
		}
		if len(c.Series) > 0 {
			list = append(list, Picture{output.Picture(t.name), chart.SVG(&c)})
		}
	}
	return list
}

// curve returns a counter as a curve. Counters with the same Where are drawn together.
func (s *Series) curve(counter int) chart.Series {
	c := &s.Counters[counter]
	x := chart.Series{Name: c.Where + ", " + c.What, Group: c.Where}
	for i := range s.Intervals() {
		_, to := s.Interval(i)
		x.Points = append(x.Points, chart.Point{X: float64(to) / float64(simcore.Microsecond), Y: s.Value(i, counter)})
	}
	return x
}
