package golden

import (
	"encoding/json"
	"fmt"
	"strings"

	"nictwin/golden/verdict"
	"nictwin/models/nic/boundary"
)

// Result is the outcome of a run.
type Result string

// Results. Infrastructure means that the crossings contradict the protocol, so that they show nothing about the
// device.
const (
	Pass           Result = "pass"
	Differs        Result = "mismatch"
	Infrastructure Result = "infrastructure"
)

// Report is the outcome of a run in detail.
type Report struct {
	Result Result `json:"result"`
	Reason string `json:"reason,omitempty"` // why it is not a pass, in one line
	// frames, completion entries, answers and counters compared
	Checked    uint64              `json:"checked"`
	Mismatches uint64              `json:"mismatches"`
	List       []*verdict.Mismatch `json:"list,omitempty"`    // the first mismatches
	Tallies    []verdict.Tally     `json:"tallies,omitempty"` // all mismatches, counted by kind
	Notes      []string            `json:"notes,omitempty"`   // what the other side did outside of the contract
	Limits     []verdict.Limit     `json:"limits,omitempty"`  // what the referee's own bounds kept from being judged
	Digest     string              `json:"digest"`            // SHA-256 over the crossings
	Cycles     int64               `json:"cycles"`            // last cycle in which something crossed
	Stats      Stats               `json:"stats"`
}

// Stats counts crossings and their outcomes.
type Stats struct {
	FramesIn  uint64 `json:"frames_in"`
	BytesIn   uint64 `json:"bytes_in"`
	FramesOut uint64 `json:"frames_out"`
	BytesOut  uint64 `json:"bytes_out"`
	TLPsIn    uint64 `json:"tlps_in"`
	TLPsOut   uint64 `json:"tlps_out"`
	Delivered uint64 `json:"delivered"`
	Dropped   uint64 `json:"dropped"`
	Compared  uint64 `json:"compared"`     // outputs
	Counters  uint64 `json:"counters"`     // counters compared at the end of the run
	Foreign   uint64 `json:"foreign_tlps"` // violations of PCIe rules by TLPs sent to the device
}

func (s *Stats) count(x *boundary.Crossing) {
	switch x.Kind {
	case boundary.FrameIn:
		s.FramesIn++
		s.BytesIn += uint64(len(x.Frame.Data))
	case boundary.FrameOut:
		s.FramesOut++
		s.BytesOut += uint64(len(x.Frame.Data))
	case boundary.TLPIn:
		s.TLPsIn++
	case boundary.TLPOut:
		s.TLPsOut++
	}
}

// Passed reports whether the device did what the contract says.
func (p *Report) Passed() bool { return p.Result == Pass }

// JSON returns the report as one JSON object.
func (p *Report) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("golden: report: %w", err)
	}
	return b, nil
}

// String formats the report for people: one line if all is well, else with the mismatches.
func (p *Report) String() string {
	var b strings.Builder
	s := &p.Stats
	fmt.Fprintf(&b, "%s: %d compared over %d cycles; frames in %d (delivered %d, dropped %d), frames out %d, TLPs in "+
		"%d, out %d",
		p.Result, p.Checked, p.Cycles, s.FramesIn, s.Delivered, s.Dropped, s.FramesOut, s.TLPsIn, s.TLPsOut)
	if p.Reason != "" {
		b.WriteString("\n" + p.Reason)
	}
	for _, m := range p.List {
		b.WriteString("\n" + m.Detail())
	}
	if p.Mismatches > uint64(len(p.List)) {
		fmt.Fprintf(&b, "\n%d mismatches in all:", p.Mismatches)
		for _, t := range p.Tallies {
			fmt.Fprintf(&b, "\n  %d × %s [%s] %s", t.Count, t.Domain, t.Rule, t.Field)
		}
	}
	for _, n := range p.Notes {
		b.WriteString("\nnote: " + n)
	}
	for _, l := range p.Limits {
		fmt.Fprintf(&b, "\nlimit: %d × %s", l.Count, l.What)
	}
	return b.String()
}
