package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Most lines that a table has for flows, and for latencies.
const (
	maxFlowLines    = 8
	maxLatencyLines = 24
)

// String formats the statistics as a table.
func (s *Summary) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "goodput\tGbit/s\tmessages/s\tmessages\tfrom\tto\t\n")
	line := func(name string, r *Rate) {
		converged := "not converged"
		if r.Converged {
			converged = "±0"
			switch {
			case r.Half != nil:
				converged = fmt.Sprintf("±%.2g", *r.Half)
			case r.HalfMessages != nil:
				converged = fmt.Sprintf("±%.2g/s", *r.HalfMessages)
			}
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%d\t%s\t%s\t  %s\n", name, r.Gbps, r.PerSecond, r.Messages, short(r.From),
			short(r.To), converged)
	}
	line("total", &s.Total)
	if len(s.Flows) > 1 {
		for i := range s.Flows[:min(len(s.Flows), maxFlowLines)] {
			f := &s.Flows[i]
			line(fmt.Sprintf("%sflow %d, %s to %s", of(f.Workload), f.Flow, f.Client, f.Server), &f.Rate)
		}
	}
	_ = w.Flush() // a Builder takes everything
	if n := len(s.Flows) + s.FlowsLeftOut; n > maxFlowLines {
		fmt.Fprintf(&b, "  and %d more flows\n", n-maxFlowLines)
	}
	if s.Total.Why != "" {
		fmt.Fprintf(&b, "  total: %s\n", s.Total.Why)
	}
	s.latencyTable(&b)
	s.creditTable(&b)
	s.dropTable(&b)
	s.loadTable(&b)
	s.backgroundTable(&b)
	s.rivalTables(&b)
	return b.String()
}

func (s *Summary) latencyTable(b *strings.Builder) {
	if len(s.Latency) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "latency\tsize\tto\tcount\tmean\tp50\tp90\tp99\tp99.9\tmax\t\n")
	for i := range s.Latency[:min(len(s.Latency), maxLatencyLines)] {
		l := &s.Latency[i]
		fmt.Fprintf(w, "%s%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", of(l.Workload), l.Kind, l.Bytes, l.Measure,
			l.Count, short(int64(l.Mean)), short(l.P50), short(l.P90), tail(l.P99), tail(l.P999), short(l.Max))
	}
	_ = w.Flush()
	if n := len(s.Latency); n > maxLatencyLines {
		fmt.Fprintf(b, "  and %d more kinds, sizes and measures\n", n-maxLatencyLines)
	}
}

// of returns the beginning of a line about one of several workloads.
func of(workload string) string {
	if workload == "" {
		return ""
	}
	return workload + ": "
}

func tail(ps *int64) string {
	if ps == nil {
		return "n/a"
	}
	return short(*ps)
}

// short formats a time with four digits.
func short(ps int64) string {
	v, units := float64(ps), []string{"ps", "ns", "us", "ms", "s"}
	i := 0
	for ; v >= 1000 && i < len(units)-1; i++ {
		v /= 1000
	}
	return fmt.Sprintf("%.4g%s", v, units[i])
}
