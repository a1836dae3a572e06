package stats

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Credits describes what a server with credits for receive buffers (stack/ceio) did, from its set-up on.
type Credits struct {
	Server      string `json:"server"`
	Credits     int    `json:"credits"`          // of all flows
	Lost        int    `json:"credits_lost"`     // by Algorithm 1 as printed
	Withheld    uint64 `json:"credits_withheld"` // most of a flow that its account did not get, for lack of descriptors
	Fast        uint64 `json:"fast_packets"`
	Slow        uint64 `json:"slow_packets"`
	Exhausted   uint64 `json:"exhausted"` // times that a flow ran out of credits
	Drains      uint64 `json:"drains"`
	Copies      uint64 `json:"copies"` // work entries that copied slow packets
	Resumes     uint64 `json:"resumes"`
	Late        uint64 `json:"late_packets"`      // slow ones after a resume
	Overshoot   uint64 `json:"overshoot"`         // fast packets without a credit
	Marked      uint64 `json:"marked_packets"`    // while the slow path was growing
	CE          uint64 `json:"ce_packets"`        // packets that were marked when their core took them
	Strangers   uint64 `json:"stranger_frames"`   // of the shared ring, and of no flow: dropped
	Activated   uint64 `json:"activated_flows"`   // flows that became active
	Deactivated uint64 `json:"deactivated_flows"` // flows that gave up their credits
}

func (s *Summary) creditTable(b *strings.Builder) {
	if len(s.Credits) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "credits of\tin all\tlost\twithheld\tfast packets\tslow\tlate\tmarked\tCE\tstrangers\texhausted\t"+
		"drains\tcopies\tresumes\tovershoot\t\n")
	for i := range s.Credits {
		x := &s.Credits[i]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", x.Server, x.Credits, x.Lost,
			x.Withheld, x.Fast, x.Slow, x.Late, x.Marked, x.CE, x.Strangers, x.Exhausted, x.Drains, x.Copies, x.Resumes,
			x.Overshoot)
	}
	_ = w.Flush() // a Builder takes everything
}

// Drops are the frames that the NIC of a server over UDP dropped on receive, from its set-up on, by the thing missing.
type Drops struct {
	Server     string `json:"server"`
	Buffer     uint64 `json:"no_buffer"`     // room in the port's receive buffer [R3]
	Descriptor uint64 `json:"no_descriptor"` // a descriptor of the queue [R9]
	TooLong    uint64 `json:"too_long"`      // longer than the queue's buffers [R8]
	NoRule     uint64 `json:"no_rule"`       // no steering rule matches: frames for other machines
}

func (s *Summary) dropTable(b *strings.Builder) {
	if len(s.Drops) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "frames dropped by\tno buffer\tno descriptor\ttoo long\tno rule\t\n")
	for _, x := range s.Drops {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", x.Server, x.Buffer, x.Descriptor, x.TooLong, x.NoRule)
	}
	_ = w.Flush() // a Builder takes everything
}
