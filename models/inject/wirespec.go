package inject

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// WireSpec configures the faults of a cable. RoCE packets are selected by their identity (flow, PSN
// and attempt), never by their position in the traffic, so that devices with different timing see
// the same faults.
type WireSpec struct {
	Seed    uint64     `yaml:"seed"`
	Chances Chances    `yaml:"chances"` // for each RoCE packet that no rule strikes
	Hold    HoldSpec   `yaml:"hold"`    // how long disorder holds a frame back
	Rules   []WireRule `yaml:"rules"`   // every rule that matches a frame strikes it

	// Window is the number of PSNs of a flow, back from the greatest seen, whose attempts are
	// counted: a power of two, 64 to 65536. 0: DefaultWindow. An older packet restarts its flow.
	Window int `yaml:"window"`
}

// DefaultWindow covers 64 MB in packets of 4 KB: more than a requester has in flight, so that a retransmission lies
// in the window (assumption). A flow that has sent that many packets takes 32 KB of memory.
const DefaultWindow = 16384

// Chances holds the probability, in [0, 1), of each kind of fault per packet. Each kind is drawn independently, by
// seed, flow, PSN and attempt.
type Chances struct {
	Loss        float64 `yaml:"loss"`
	Duplication float64 `yaml:"duplication"`
	Disorder    float64 `yaml:"disorder"`
	Corruption  float64 `yaml:"corruption"` // a bit after the BTH is flipped, so that the ICRC is wrong
	Headers     float64 `yaml:"headers"`    // a bit up to the end of the BTH is flipped
	ECN         float64 `yaml:"ecn"`        // CE mark, if the packet's transport is ECN-capable
}

// HoldSpec limits how long a fault of kind disorder holds a frame back. The frame goes on when the first limit is
// reached.
type HoldSpec struct {
	Frames int        `yaml:"frames"`  // other frames passed in the same direction; 0: DefaultHold
	Time   simcore.Ps `yaml:"time_ps"` // time; 0: DefaultHold
}

// DefaultHold reorders by three frames, the fewest that make TCP assume a loss (RFC 5681, section 3.2), and waits
// for them for 10 µs (assumption: less than a retransmission timeout).
var DefaultHold = HoldSpec{Frames: 3, Time: 10 * simcore.Microsecond}

// WireKind names what a rule does to a frame.
type WireKind string

// Effects of rules.
const (
	WireLoss        WireKind = "loss"
	WireDuplication WireKind = "duplication"
	WireDisorder    WireKind = "disorder"
	WireCorruption  WireKind = "corruption"
	WireECN         WireKind = "ecn"
)

// WireClass is the class of a packet. It is part of the flow's identity, since the requests to a queue pair and the
// responses from it have separate PSNs.
type WireClass string

// Classes of packets.
const (
	ClassAny      WireClass = ""         // in a rule: any class except ClassOther
	ClassRequest  WireClass = "request"  // SEND, WRITE, READ request, atomic; datagrams
	ClassResponse WireClass = "response" // READ response, atomic acknowledgement
	ClassAck      WireClass = "ack"      // ACK and NAK
	ClassCNP      WireClass = "cnp"      // has no PSN of its own: every one is an attempt of PSN 0
	// opcodes of manufacturers, and others that IBTA does not define; each is a flow of its own
	ClassVendor WireClass = "vendor"
	ClassOther  WireClass = "other" // not RoCE
)

// WirePart is the part of a frame in which a corruption flips a bit.
type WirePart string

// Parts of frames.
const (
	PartAny     WirePart = ""        // PartPayload, or PartFrame for ClassOther
	PartPayload WirePart = "payload" // after the BTH, ICRC included
	PartHeaders WirePart = "headers" // up to the end of the BTH
	PartFrame   WirePart = "frame"   // the whole frame
)

// WireRule strikes the frames that match all of its fields.
type WireRule struct {
	Do WireKind `yaml:"do"`

	Cable     *int      `yaml:"cable"`     // number of the network's cable; null: all
	Direction string    `yaml:"direction"` // from_device, to_device; empty: both
	Class     WireClass `yaml:"class"`     // empty: every RoCE packet
	QP        *uint32   `yaml:"qp"`        // destination queue pair; null: all
	Opcode    *uint8    `yaml:"opcode"`    // of the BTH; null: all

	PSN      int `yaml:"psn"`      // first PSN to strike, counted from the first PSN seen of the flow
	PSNs     int `yaml:"psns"`     // number of consecutive PSNs; 0: one
	Attempt  int `yaml:"attempt"`  // first attempt to strike, from 0: how often the flow had the PSN before
	Attempts int `yaml:"attempts"` // number of consecutive attempts to strike; 0: one

	Ordinal int `yaml:"ordinal"` // class other: index in its direction, from 0, in place of PSN and attempt

	Hold HoldSpec `yaml:"hold"` // disorder; fields that are 0 are taken from WireSpec.Hold
	Part WirePart `yaml:"part"` // corruption
	Bit  *int     `yaml:"bit"`  // corruption: counted from the lowest bit of the part's first byte; null: random
}

// Validate returns every error of the spec, each a field.Error.
func (s *WireSpec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	for _, c := range s.Chances.each() {
		bad(*c.share >= 0 && *c.share < 1, field.Path("chances."+c.name), "%v: want 0 or more, less than 1", *c.share)
	}
	errs = append(errs, field.Under("hold", s.Hold.validate()))
	w := s.Window
	bad(w == 0 || w >= 64 && w <= 1<<16 && w&(w-1) == 0, "window",
		"%d: want a power of two from 64 to 65536, or 0 for %d", w, DefaultWindow)
	for i := range s.Rules {
		errs = append(errs, field.Under(field.Path(fmt.Sprintf("rules[%d]", i)), s.Rules[i].validate()))
	}
	return errors.Join(errs...)
}

// StrikesOthers reports whether frames that are not RoCE may suffer a fault: only rules strike them.
func (s *WireSpec) StrikesOthers(kind WireKind) bool {
	return slices.ContainsFunc(s.Rules, func(r WireRule) bool { return r.Do == kind && r.Class == ClassOther })
}

type chance struct {
	name  string
	share *float64
}

func (c *Chances) each() [6]chance {
	return [...]chance{{"loss", &c.Loss}, {"duplication", &c.Duplication}, {"disorder", &c.Disorder},
		{"corruption", &c.Corruption},
		{"headers", &c.Headers}, {"ecn", &c.ECN}}
}

// Largest values of the fields.
const (
	maxHeld     = 1024 // frames that pass a held one
	maxHoldTime = simcore.Second
	maxPSN      = 1 << 40
)

func (h *HoldSpec) validate() error {
	var errs []error
	if h.Frames < 0 || h.Frames > maxHeld {
		errs = append(errs, field.Errorf("frames", "%d: want 1 to %d, or 0 for the default", h.Frames, maxHeld))
	}
	if h.Time < 0 || h.Time > maxHoldTime {
		errs = append(errs, field.Errorf("time_ps", "%d: want 1 to 1 s, or 0 for the default", int64(h.Time)))
	}
	return errors.Join(errs...)
}

// or returns h with its zero fields taken from d.
func (h HoldSpec) or(d HoldSpec) HoldSpec {
	if h.Frames == 0 {
		h.Frames = d.Frames
	}
	if h.Time == 0 {
		h.Time = d.Time
	}
	return h
}

var (
	wireKinds   = []WireKind{WireLoss, WireDuplication, WireDisorder, WireCorruption, WireECN}
	wireClasses = []WireClass{ClassRequest, ClassResponse, ClassAck, ClassCNP, ClassVendor, ClassOther}
	wireParts   = []WirePart{PartPayload, PartHeaders, PartFrame}
)

func list[T ~string](of []T) string {
	names := make([]string, len(of))
	for i, n := range of {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

func (r *WireRule) validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(slices.Contains(wireKinds, r.Do), "do", "%q: want one of %s", r.Do, list(wireKinds))
	bad(r.Cable == nil || *r.Cable >= 0, "cable", "%d: want 0 or more, or null for every one", value(r.Cable))
	_, known := r.directions()
	bad(known, "direction", "%q: want from_device, to_device, or none for both", r.Direction)
	bad(r.Class == ClassAny || slices.Contains(wireClasses, r.Class), "class",
		"%q: want one of %s, or none for all but %s", r.Class, list(wireClasses), ClassOther)
	bad(r.QP == nil || *r.QP < 1<<24, "qp", "%#x: want 0 to 0xffffff, or null for every one", value(r.QP))
	for _, n := range []struct {
		path field.Path
		v    int
	}{{"psn", r.PSN}, {"psns", r.PSNs}, {"attempt", r.Attempt}, {"attempts", r.Attempts}, {"ordinal", r.Ordinal}} {
		bad(n.v >= 0 && n.v <= maxPSN, n.path, "%d: want 0 to 2^40", n.v)
	}
	keyed := r.PSN != 0 || r.PSNs != 0 || r.Attempt != 0 || r.Attempts != 0 || r.QP != nil || r.Opcode != nil
	bad(r.Class != ClassOther || !keyed, "class", "%s: it has no qp, opcode, psn or attempt: want ordinal", r.Class)
	bad(r.Class == ClassOther || r.Ordinal == 0, "ordinal", "%d: only class %s has one", r.Ordinal, ClassOther)
	bad(r.Class != ClassCNP || r.PSN == 0 && r.PSNs <= 1, "psn", ": those of class %s are attempts of PSN 0", r.Class)
	bad(r.Do == WireDisorder || r.Hold == HoldSpec{}, "hold", ": only %s has one", WireDisorder)
	errs = append(errs, field.Under("hold", r.Hold.validate()))
	r.validateCorruption(bad)
	return errors.Join(errs...)
}

// maxBit is the number of the last bit of the longest frame that crosses a wire.
const maxBit = 8<<18 - 1

func (r *WireRule) validateCorruption(bad func(ok bool, path field.Path, format string, a ...any)) {
	bad(r.Part == PartAny || slices.Contains(wireParts, r.Part), "part", "%q: want one of %s", r.Part, list(wireParts))
	bad(r.Class != ClassOther || r.Part == PartAny || r.Part == PartFrame, "part", "%q: class %s has but %s", r.Part,
		ClassOther, PartFrame)
	bad(r.Do == WireCorruption || r.Part == PartAny && r.Bit == nil, "part", ": only %s has one, or a bit",
		WireCorruption)
	bad(r.Bit == nil || *r.Bit >= 0 && *r.Bit <= maxBit, "bit", "%d: want 0 to %d, or null for one that is drawn",
		value(r.Bit), maxBit)
}

// value returns the value behind a pointer, 0 for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// directions returns the directions of a rule; known is false if the rule names an unknown one.
func (r *WireRule) directions() (d [2]bool, known bool) {
	switch r.Direction {
	case "":
		return [2]bool{true, true}, true
	case "from_device":
		return [2]bool{FromDevice: true}, true
	case "to_device":
		return [2]bool{ToDevice: true}, true
	}
	return d, false
}
