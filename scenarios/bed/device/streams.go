package device

import (
	"fmt"

	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/observe/result"
)

// StreamError reports the first violation of an AXI-Stream rule on the device's pins.
type StreamError struct {
	Stream string
	Port   int // Ethernet port, -1 for the TLP streams
	Cycle  int64
	Rule   protocol.Rule
	More   uint64 // violations after this one
}

func (e *StreamError) Error() string {
	s := fmt.Sprintf("stream %s, cycle %d: %v", e.Stream, e.Cycle, e.Rule)
	if e.More > 0 {
		s += fmt.Sprintf(" (and %d more)", e.More)
	}
	return s
}

// streamRules gives for each violation the contract's rule for Ethernet streams and for TLP streams, the signal, and
// the value it should have had.
var streamRules = map[protocol.Rule]struct{ eth, tlp, signal, want string }{
	protocol.RuleValidDropped: {"B6", "B6", "tvalid", "1 until the beat is accepted"},
	protocol.RuleDataChanged:  {"B6", "B6", "tdata", "unchanged until the beat is accepted"},
	protocol.RuleKeepChanged:  {"B6", "B6", "tkeep", "unchanged until the beat is accepted"},
	protocol.RuleLastChanged:  {"B6", "B6", "tlast", "unchanged until the beat is accepted"},
	protocol.RuleSideChanged:  {"B6", "B6", "tuser", "unchanged until the beat is accepted"},
	protocol.RuleKeepGap:      {"B3", "B5", "tkeep", "contiguous from bit 0"},
	protocol.RuleKeepPartial:  {"B3", "B5", "tkeep", "full in every beat but the last"},
	protocol.RuleEmpty:        {"B3", "B5", "tkeep", "a packet with data"},
	protocol.RuleTooLong:      {"B3", "B5", "tlast", "1 in the last beat of a packet"},
	protocol.RuleHangIn:       {"B4", "B7", "tready", "1 within bounded time"},
	protocol.RuleHangOut:      {"C3", "C3", "tvalid", "1 until the packet is whole, within bounded time"},
	protocol.RuleSideVaried:   {"B3", "B5", "tuser", "constant over the packet"},
	protocol.RulePadding:      {"B6", "B6", "tdata", "zero beyond tkeep"},
}

// Finding returns the violation as a finding.
func (e *StreamError) Finding() result.Finding {
	r := streamRules[e.Rule]
	f := result.Finding{
		Rule: r.eth, Domain: result.Streams, Field: r.signal, Expected: r.want, Got: e.Rule.String(),
		Cycle: new(e.Cycle), Stream: e.Stream,
	}
	if e.Port >= 0 {
		f.Port = new(e.Port)
		return f
	}
	f.Rule = r.tlp
	if r.signal == "tuser" { // the side band of a TLP is its header
		f.Field = "thdr"
	}
	return f
}
