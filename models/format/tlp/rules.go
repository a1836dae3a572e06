package tlp

import (
	"fmt"
	"strconv"
)

// Rule is the number of a rule that the Monitor checks.
type Rule uint8

// The rules. Their numbers appear in reports, so new rules must be added at the end.
const (
	RuleHeader        Rule = iota + 1 // known type, no unsupported or reserved bit
	RuleAddressFormat                 // an address below 4 GB takes a 3-DW header
	RuleLength                        // the length field equals the payload
	RuleMPS                           // payload at most MPS
	RuleMRRS                          // read request at most MRRS
	RulePage                          // no request crosses 4 KB
	RuleByteEnables                   // byte enables legal
	RuleTagRange                      // tag within the configured number of tags
	RuleTagUnique                     // tag unique among the requester's outstanding requests
	RuleRequesterID                   // the device's requests carry its own ID
	RuleUnexpected                    // a completion matches an outstanding request
	RuleByteCount                     // byte count equals the bytes left of the request
	RuleLowerAddr                     // lower address is that of the next missing byte
	RuleRCB                           // a completion that is not the last ends at an RCB
	RuleCplLength                     // a completion carries no more than the bytes missing
	RuleStatus                        // status is defined; data if and only if it is successful
	RuleCplAttr                       // a completion repeats its request's TC and attributes
	RuleCompleterID                   // one completer per request; the device completes with its own ID
	RulePoison                        // EP only where there is data
	RuleDigest                        // no digest at this port
	RuleMessage                       // message code and routing legal
	RuleOutstanding                   // nothing outstanding at the end
	numRules
)

// NumRules is the number of rules; they are numbered from 1.
const NumRules = int(numRules) - 1

var ruleTable = [numRules]struct{ name, ref string }{
	RuleHeader:        {"header", "2.2.1"},
	RuleAddressFormat: {"address-format", "2.2.4.1"},
	RuleLength:        {"length", "2.2.2"},
	RuleMPS:           {"mps", "2.2.2"},
	RuleMRRS:          {"mrrs", "2.2.7"},
	RulePage:          {"4kb", "2.2.7"},
	RuleByteEnables:   {"byte-enables", "2.2.5"},
	RuleTagRange:      {"tag-range", "2.2.6.2"},
	RuleTagUnique:     {"tag-unique", "2.2.6.2"},
	RuleRequesterID:   {"requester-id", "2.2.6.2"},
	RuleUnexpected:    {"unexpected-completion", "2.3.2"},
	RuleByteCount:     {"byte-count", "2.3.1.1"},
	RuleLowerAddr:     {"lower-address", "2.3.1.1"},
	RuleRCB:           {"rcb", "2.3.1.1"},
	RuleCplLength:     {"completion-length", "2.3.1.1"},
	RuleStatus:        {"status", "2.2.9"},
	RuleCplAttr:       {"completion-attributes", "2.2.9"},
	RuleCompleterID:   {"completer-id", "2.2.9"},
	RulePoison:        {"poison", "2.7.2"},
	RuleDigest:        {"digest", "2.2.3"},
	RuleMessage:       {"message", "2.2.8"},
	RuleOutstanding:   {"outstanding-at-end", "2.8"},
}

// String returns the rule's short name.
func (r Rule) String() string {
	if r >= 1 && r < numRules {
		return ruleTable[r].name
	}
	return fmt.Sprintf("Rule(%d)", uint8(r))
}

// Ref returns the section of the standard that the rule comes from.
func (r Rule) Ref() string {
	if r >= 1 && r < numRules {
		return "PCIe " + ruleTable[r].ref
	}
	return ""
}

// Dir is the direction in which a TLP crosses the port.
type Dir uint8

// The directions.
const (
	FromDevice Dir = iota
	ToDevice
	numDirs
)

func (d Dir) String() string {
	switch d {
	case FromDevice:
		return "from device"
	case ToDevice:
		return "to device"
	}
	return fmt.Sprintf("Dir(%d)", uint8(d))
}

func (d Dir) opposite() Dir { return d ^ 1 }

// Relation is the relation that the value got must have to the value expected.
type Relation uint8

// The relations.
const (
	Equal Relation = iota
	AtMost
	AtLeast
	MultipleOf
	NotEqual
	Described // described in words by Violation.Expected
)

var relationWords = [...]string{"", "at most ", "at least ", "a multiple of ", "not ", ""}

// Violation is one violation of a rule.
type Violation struct {
	Rule     Rule
	Dir      Dir
	Cycle    uint64
	Field    string   // the header field at fault, by its name in Header
	Relation Relation // relation of Got to Want that the rule demands
	Want     uint64
	Expected string // description of the expected value; set if Relation is Described
	Got      uint64
	Header   Header            // decoded header, as far as it could be decoded; for RuleOutstanding that of the request
	Raw      [HeaderBytes]byte // header as it crossed the port; zero for RuleOutstanding
}

// String describes the violation on one line: cycle, direction, rule, field,
// expected, got, TLP.
func (v Violation) String() string {
	var buf [320]byte
	b := append(buf[:0], "cycle "...)
	b = strconv.AppendUint(b, v.Cycle, 10)
	b = append(append(append(b, ' '), v.Dir.String()...), ": rule T"...)
	if v.Rule < 10 {
		b = append(b, '0')
	}
	b = strconv.AppendUint(b, uint64(v.Rule), 10)
	b = append(append(append(b, ' '), v.Rule.String()...), " ("...)
	b = append(append(append(b, v.Rule.Ref()...), "): "...), v.Field...)
	b = append(b, " expected "...)
	if v.Relation == Described {
		b = append(b, v.Expected...)
	} else {
		b = append(b, relationWords[v.Relation]...)
		b = v.appendNumber(b, v.Want)
	}
	b = v.appendNumber(append(b, ", got "...), v.Got)
	b = append(b, ": "...)
	if v.Header.Kind == KindInvalid {
		return string(fmt.Appendf(b, "%x", v.Raw))
	}
	return string(v.Header.AppendTo(b))
}

// appendNumber writes a value in the usual notation of the field at fault.
func (v *Violation) appendNumber(b []byte, n uint64) []byte {
	for f, name := range fieldNames {
		if name == v.Field {
			return appendValue(b, Field(f), n)
		}
	}
	return strconv.AppendUint(append(b, "0x"...), n, 16)
}
