package play

import (
	"fmt"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// fieldRule is the field name of findings about broken rules.
const fieldRule = "rule"

// failRule fails the run because the device broke a rule of a stream.
func (p *played) failRule(s *ref.Stream, e *protocol.Record) {
	switch e.Rule {
	case protocol.RuleHangIn:
		p.recordStarved(e)
		return
	case protocol.RuleHangOut: // no rule of the stream says which outputs must come: the run's check does
		return
	}
	p.trace("%8d %8s %-3s %s: %v\n", e.First, "", direction(s), s.Name, e.Rule)
	p.judge.Fail(ref.Failure{Stream: s.Name, N: e.Ordinal, Cycle: e.First, Field: fieldRule,
		Expected: p.rule(s, e.Rule),
		Got:      p.breach(s, e.Rule)})
}

// rule returns what a protocol rule requires of a stream, as the expected value of a finding.
func (p *played) rule(s *ref.Stream, r protocol.Rule) string {
	switch r {
	case protocol.RuleValidDropped:
		return "valid to stay high until the beat is taken"
	case protocol.RuleDataChanged, protocol.RuleKeepChanged, protocol.RuleLastChanged, protocol.RuleSideChanged:
		return "a beat to stay as it is until it is taken"
	case protocol.RuleKeepGap:
		return "the bytes of a beat from bit 0 of tkeep on, without gaps"
	case protocol.RuleKeepPartial:
		return "every beat before the last one full"
	case protocol.RuleEmpty:
		return "at least one byte in a packet"
	case protocol.RuleTooLong:
		return fmt.Sprintf("at most %d bytes (play.longest)", p.Spec.Longest)
	case protocol.RuleSideVaried:
		return "the same side band in every beat of a packet (side_held)"
	case protocol.RulePadding:
		return "zeros beyond tkeep (zero_padding)"
	}
	return "the rules of streams"
}

// breach describes how the rule was broken, as the value that a finding reports as found.
func (p *played) breach(s *ref.Stream, r protocol.Rule) string {
	switch {
	case r == protocol.RuleSideChanged && s.Kind == ref.Record:
		return "a field changed while stalled"
	case r == protocol.RuleValidDropped && s.Kind == ref.Record:
		return "valid withdrawn before the record was taken"
	}
	return r.String()
}
