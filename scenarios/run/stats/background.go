package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Background describes a capture that was played into a port beside the traffic (scenarios/run/background).
type Background struct {
	Background int     `json:"background"` // its number in the scenario
	Server     string  `json:"server"`
	Port       int     `json:"port"`
	From       int64   `json:"from_ps"` // after the start of the traffic
	To         int64   `json:"to_ps"`
	Frames     uint64  `json:"frames"` // that entered the cable
	Bytes      uint64  `json:"bytes"`
	Passes     uint64  `json:"passes"` // whole ones
	Gbps       float64 `json:"rate_gbps"`
}

// AddBackground adds the captures to the statistics.
func (s *Summary) AddBackground(list []Background) {
	for _, b := range list {
		b.Gbps = gbps(b.Bytes, b.From, b.To)
		s.Background = append(s.Background, b)
	}
}

// maxBackgroundLines bounds the lines of a table of captures.
const maxBackgroundLines = 16

func (s *Summary) backgroundTable(b *strings.Builder) {
	if len(s.Background) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "background\tGbit/s\tframes\tpasses\tfrom\tto\t\n")
	for i := range s.Background[:min(len(s.Background), maxBackgroundLines)] {
		x := &s.Background[i]
		fmt.Fprintf(w, "%d, port %d of %s\t%.4g\t%d\t%d\t%s\t%s\t\n", x.Background, x.Port, x.Server, x.Gbps, x.Frames,
			x.Passes, short(x.From), short(x.To))
	}
	_ = w.Flush() // a Builder takes everything
	if n := len(s.Background); n > maxBackgroundLines {
		fmt.Fprintf(b, "  and %d more captures\n", n-maxBackgroundLines)
	}
}
