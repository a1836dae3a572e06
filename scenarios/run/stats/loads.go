package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Load describes a load of a memory beside the traffic (scenarios/run/load), its rate and the latency that it measured.
type Load struct {
	Load    int     `json:"load"` // its number in the scenario
	Server  string  `json:"server"`
	At      string  `json:"at"`
	Of      string  `json:"of"`
	Socket  int     `json:"socket"`
	From    int64   `json:"from_ps"` // from the begin of the traffic on
	To      int64   `json:"to_ps"`
	Bytes   uint64  `json:"bytes"` // read and written
	Gbps    float64 `json:"rate_gbps"`
	Latency *Times  `json:"latency,omitempty"` // of dependent loads; nil: not measured
}

// Times is a distribution of times. P99 and P999 are nil for fewer than MinTail samples.
type Times struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_ps"`
	P50   int64   `json:"p50_ps"`
	P90   int64   `json:"p90_ps"`
	P99   *int64  `json:"p99_ps,omitempty"`
	P999  *int64  `json:"p999_ps,omitempty"`
	Max   int64   `json:"max_ps"`
}

// Measure adds the times of dependent loads.
func (l *Load) Measure(d *Dist) {
	if d.Count() > 0 {
		x := d.latency(&set{}, 0)
		l.Latency = &Times{x.Count, x.Mean, x.P50, x.P90, x.P99, x.P999, x.Max}
	}
}

// AddLoads adds the loads of memories to the statistics.
func (s *Summary) AddLoads(list []Load) {
	for _, l := range list {
		l.Gbps = gbps(l.Bytes, l.From, l.To)
		s.Loads = append(s.Loads, l)
	}
}

// maxLoadLines bounds the lines of text in a table of memory loads.
const maxLoadLines = 16

func (s *Summary) loadTable(b *strings.Builder) {
	if len(s.Loads) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "load\tGbit/s\tfrom\tto\tcount\tmean\tp50\tp90\tp99\tp99.9\tmax\t\n")
	for i := range s.Loads[:min(len(s.Loads), maxLoadLines)] {
		l := &s.Loads[i]
		name := fmt.Sprintf("%d, %s of %s, %s", l.Load, l.At, l.Server, l.Of)
		if l.Socket > 0 {
			name += fmt.Sprintf(" socket %d", l.Socket)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%s\t", name, l.Gbps, short(l.From), short(l.To))
		if t := l.Latency; t != nil {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", t.Count, short(int64(t.Mean)), short(t.P50), short(t.P90),
				tail(t.P99), tail(t.P999), short(t.Max))
		} else {
			fmt.Fprint(w, "-\t-\t-\t-\t-\t-\t-\t\n")
		}
	}
	_ = w.Flush() // a Builder takes everything
	if n := len(s.Loads); n > maxLoadLines {
		fmt.Fprintf(b, "  and %d more loads\n", n-maxLoadLines)
	}
}
