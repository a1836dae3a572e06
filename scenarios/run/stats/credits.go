package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Credits describes what a server with credits for receive buffers (stack/ceio) did, from its set-up on.
type Credits struct {
	Server      string `json:"server"`
	Credits     int    `json:"credits"`      // of all flows
	Lost        int    `json:"credits_lost"` // by Algorithm 1 as printed
	Fast        uint64 `json:"fast_packets"`
	Slow        uint64 `json:"slow_packets"`
	Exhausted   uint64 `json:"exhausted"` // times that a flow ran out of credits
	Drains      uint64 `json:"drains"`
	Copies      uint64 `json:"copies"` // work entries that copied slow packets
	Resumes     uint64 `json:"resumes"`
	Late        uint64 `json:"late_packets"`      // slow ones after a resume
	Overshoot   uint64 `json:"overshoot"`         // fast packets without a credit
	Marked      uint64 `json:"marked_packets"`    // while the slow path was growing
	Activated   uint64 `json:"activated_flows"`   // flows that became active
	Deactivated uint64 `json:"deactivated_flows"` // flows that gave up their credits
}

// maxCreditLines bounds the lines of a table of servers with credits.
const maxCreditLines = 16

func (s *Summary) creditTable(b *strings.Builder) {
	if len(s.Credits) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "credits of\tin all\tfast packets\tslow\tlate\tmarked\texhausted\tdrains\tcopies\tresumes\t"+
		"overshoot\tlost\t\n")
	for i := range s.Credits[:min(len(s.Credits), maxCreditLines)] {
		x := &s.Credits[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", x.Server, x.Credits, x.Fast, x.Slow,
			x.Late, x.Marked, x.Exhausted, x.Drains, x.Copies, x.Resumes, x.Overshoot, x.Lost)
	}
	_ = w.Flush() // a Builder takes everything
}
