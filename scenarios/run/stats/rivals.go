package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// SharedRing describes what the cores of a server with a shared receive ring (stack/baseline/shring) did, from its
// set-up on.
type SharedRing struct {
	Server    string `json:"server"`
	Packets   uint64 `json:"packets"`   // handed to their flows
	Looked    uint64 `json:"looked"`    // completion entries that cores looked at
	Others    uint64 `json:"others"`    // entries among them of another core's packets
	Refills   uint64 `json:"refills"`   // times that a core posted buffers
	Contended uint64 `json:"contended"` // times that a core found the lock of the buffers taken
}

// HostCC describes what the control loop of a server with HostCC (stack/baseline/hostcc) did, from its set-up on.
type HostCC struct {
	Server  string `json:"server"`
	Samples uint64 `json:"samples"`
	Lines   int64  `json:"highest_lines"` // moving average of the occupancy of the IIO buffer, in cache lines
	Level   int    `json:"highest_level"` // of the throttle
	Raised  uint64 `json:"raised"`        // steps to a higher level
	Lowered uint64 `json:"lowered"`
	Marked  uint64 `json:"marked_packets"`
}

// rivalTables writes the tables of servers with a rival of CEIO.
func (s *Summary) rivalTables(b *strings.Builder) {
	if len(s.HostCC) > 0 {
		w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(w, "host control of\tsamples\thighest occupancy\thighest level\traised\tlowered\tmarked\t\n")
		for _, x := range s.HostCC {
			fmt.Fprintf(w, "%s\t%d\t%d lines\t%d\t%d\t%d\t%d\t\n", x.Server, x.Samples, x.Lines, x.Level, x.Raised,
				x.Lowered, x.Marked)
		}
		_ = w.Flush() // a Builder takes everything
	}
	if len(s.ShRing) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "shared ring of\tpackets\tentries looked at\tof other cores\trefills\tlock taken\t\n")
	for _, x := range s.ShRing {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", x.Server, x.Packets, x.Looked, x.Others, x.Refills, x.Contended)
	}
	_ = w.Flush()
}
