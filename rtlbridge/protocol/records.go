package protocol

// EventKind is the kind of a record that a device reports.
type EventKind uint8

// Event kinds.
const (
	EventIn        EventKind = 1 // an input was accepted: its first beat, its last beat, or both
	EventOut       EventKind = 2 // an output is complete
	EventViolation EventKind = 3 // a stream rule was broken
	EventRest      EventKind = 4 // the busy signal becomes nonzero after it was zero from First to Last
	EventHeld      EventKind = 5 // a stream was held back by the other side from First to Last
)

var kindNames = [...]string{"", "input", "output", "broken rule", "rest", "held time"}

func (k EventKind) String() string {
	return nameOf(kindNames[:], int(k), "record type")
}

// Flags of an EventIn.
const (
	InBegin uint8 = 1 // the input's first beat was accepted
	InEnd   uint8 = 2 // the input's last beat was accepted
)

// Flags of a RAN frame.
const (
	RanQuiet   uint32 = 1 // no transaction waits or is in progress
	RanPartial uint32 = 2 // the device stopped inside the quantum
	RanMore    uint32 = 4 // more RAN frames of this quantum follow
	RanStill   uint32 = 8 // nothing happens after this quantum unless a record comes; only if START had an idle flag
)

// Rule is an AXI-Stream rule that a device can break.
type Rule uint8

// Rules of AXI-Stream, and limits of a stream.
const (
	RuleValidDropped Rule = iota + 1
	RuleDataChanged
	RuleKeepChanged
	RuleLastChanged
	RuleSideChanged
	RuleKeepGap
	RuleKeepPartial
	RuleEmpty
	RuleTooLong
	RuleHangIn
	RuleHangOut
	RuleSideVaried
	RulePadding
)

var ruleNames = [...]string{
	"", "tvalid withdrawn before the beat was taken", "tdata changed while stalled", "tkeep changed while stalled",
	"tlast changed while stalled", "a side-band signal changed while stalled", "tkeep is not contiguous from bit 0",
	"tkeep is not full before the last beat", "transaction without data", "transaction longer than its limit",
	"offered beat not taken", "transaction not continued",
	"side-band signal differs between beats", "bytes beyond tkeep are not zero",
}

func (r Rule) String() string {
	return nameOf(ruleNames[:], int(r), "rule")
}

// Record is one record of a RAN frame. Side and Data point into the receive buffer and are valid until the next
// receive.
type Record struct {
	Kind    EventKind
	Stream  uint8
	Flags   uint8
	Rule    Rule
	Ordinal uint64 // number of the transaction on its stream
	First   uint64 // cycle of the first beat; of idle or held intervals: first cycle; of a violation: its cycle
	Last    uint64 // cycle of the last beat so far; of intervals: last cycle; of a violation: its argument
	Side    []byte
	Data    []byte
}

// Observed is a sampled status output.
type Observed struct {
	Value uint64
	// LastNonzero is one more than the last cycle in which the signal was not zero; 0: never.
	LastNonzero uint64
}

// Ran is a decoded RAN frame; its records are read with Next.
type Ran struct {
	Index, Start uint64
	Cycles       uint32
	Flags        uint32
	RTLNs        uint64 // wall time in the simulation since the quantum began
	Observed     []Observed

	records uint32
	left    uint32 // records not yet read
	rests   bool   // the device has a busy signal
	body    []byte
	streams []StreamInfo
}

// DecodeRan reads the head of a RAN frame into r, keeping r's memory.
func DecodeRan(b []byte, h *Hello, r *Ran) error {
	if len(b) < ranBytes {
		return ProtoErr(FrameRan, FaultTruncated, "%d bytes", len(b))
	}
	r.Index, r.Start = Le.Uint64(b), Le.Uint64(b[8:])
	r.Cycles, r.Flags = Le.Uint32(b[16:]), Le.Uint32(b[20:])
	r.RTLNs = Le.Uint64(b[24:])
	r.records = Le.Uint32(b[32:])
	r.left = r.records
	n := int(Le.Uint16(b[36:]))
	switch {
	case Le.Uint16(b[38:]) != 0 || r.Flags&^(RanQuiet|RanPartial|RanMore|RanStill) != 0:
		return ProtoErr(FrameRan, FaultValue, "reserved field is not zero")
	case n != len(h.Observe):
		return ProtoErr(FrameRan, FaultValue, "%d observed signals, the device declared %d", n, len(h.Observe))
	case r.Cycles > MaxRunCycles || r.left > maxRecords:
		return ProtoErr(FrameRan, FaultLimit, "%d cycles, %d records", r.Cycles, r.left)
	case len(b) < ranBytes+16*n:
		return ProtoErr(FrameRan, FaultTruncated, "%d bytes", len(b))
	}
	b = b[ranBytes:]
	r.Observed = r.Observed[:0]
	for range n {
		r.Observed = append(r.Observed, Observed{Value: Le.Uint64(b), LastNonzero: Le.Uint64(b[8:])})
		b = b[16:]
	}
	r.body, r.streams, r.rests = b, h.Streams, h.Busy >= 0
	return nil
}

// Read returns the number of records that Next has read.
func (r *Ran) Read() uint32 { return r.records - r.left }

// HeldTimes calls f for each held time of the records that Next has not read. It stops at an invalid record;
// Next returns the fault.
func (r *Ran) HeldTimes(f func(stream int, first, last uint64)) {
	b := r.body
	for range r.left {
		if len(b) < eventBytes || int(b[1]) >= len(r.streams) {
			return
		}
		n := 0
		switch EventKind(b[0]) {
		case EventOut:
			n = pad8(r.streams[b[1]].SideBytes) + pad8(int(Le.Uint32(b[4:])))
		case EventHeld:
			f(int(b[1]), Le.Uint64(b[16:]), Le.Uint64(b[24:]))
		}
		if len(b) < eventBytes+n {
			return
		}
		b = b[eventBytes+n:]
	}
}

// MostBytes returns an upper bound of the report on a quantum of n cycles: in each cycle a stream can end one
// transaction and one held time, break every rule once, and transfer one beat; a transaction may have begun
// earlier.
func MostBytes(h *Hello, s *Start, n uint64) uint64 {
	most := 1<<20 + n*eventBytes // idle intervals included
	for i, x := range h.Streams {
		most += n*uint64(x.DataBytes+pad8(x.SideBytes)+8+eventBytes*(3+int(RulePadding))) +
			uint64(s.Streams[i].MaxBytes) + DefaultMaxBytes
	}
	return most
}

// Next reads the next record into e; false when there is none left or on an error.
func (r *Ran) Next(e *Record) (bool, error) {
	if r.left == 0 {
		if len(r.body) != 0 {
			return false, ProtoErr(FrameRan, FaultTrailing, "%d bytes after the last record", len(r.body))
		}
		return false, nil
	}
	b := r.body
	if len(b) < eventBytes {
		return false, ProtoErr(FrameRan, FaultTruncated, "%d records missing", r.left)
	}
	e.Kind, e.Stream, e.Flags, e.Rule = EventKind(b[0]), b[1], b[2], Rule(b[3])
	n := int(Le.Uint32(b[4:]))
	e.Ordinal, e.First, e.Last = Le.Uint64(b[8:]), Le.Uint64(b[16:]), Le.Uint64(b[24:])
	e.Side, e.Data = nil, nil
	b = b[eventBytes:]
	if int(e.Stream) >= len(r.streams) {
		return false, ProtoErr(FrameRan, FaultStream, "stream %d of %d", e.Stream, len(r.streams))
	}
	s := &r.streams[e.Stream]
	if e.Kind == EventOut {
		if n > MaxDataBytes {
			return false, ProtoErr(FrameRan, FaultLimit, "output of %d bytes", n)
		}
		side, data := pad8(s.SideBytes), pad8(n)
		if len(b) < side+data {
			return false, ProtoErr(FrameRan, FaultTruncated, "output of %d bytes", n)
		}
		e.Side, e.Data = b[:s.SideBytes:s.SideBytes], b[side:side+n:side+n]
		b = b[side+data:]
	}
	if e.Kind == EventRest && !r.rests {
		return false, ProtoErr(FrameRan, FaultValue, "an idle interval, cycles %d to %d: the device has no busy signal",
			e.First, e.Last)
	}
	if err := checkEvent(e, s, n); err != nil {
		return false, err
	}
	r.body = b
	r.left--
	return true, nil
}

func checkEvent(e *Record, s *StreamInfo, n int) error {
	switch e.Kind {
	case EventIn:
		if s.Out {
			return ProtoErr(FrameRan, FaultStream, "input accepted on output stream %s", s.Name)
		}
		if e.Flags == 0 || e.Flags&^(InBegin|InEnd) != 0 || e.Rule != 0 || n != 0 {
			return ProtoErr(FrameRan, FaultValue, "input accepted with flags %#x, rule %d, %d bytes", e.Flags, e.Rule,
				n)
		}
	case EventOut:
		if !s.Out {
			return ProtoErr(FrameRan, FaultStream, "output on input stream %s", s.Name)
		}
		if e.Flags != 0 || e.Rule != 0 {
			return ProtoErr(FrameRan, FaultValue, "output with flags %#x, rule %d", e.Flags, e.Rule)
		}
	case EventViolation:
		if e.Rule < RuleValidDropped || e.Rule > RulePadding || e.Flags != 0 || n != 0 {
			return ProtoErr(FrameRan, FaultValue, "violation of rule %d", e.Rule)
		}
	case EventRest:
		if e.Stream != 0 || e.Flags != 0 || e.Rule != 0 || n != 0 || e.Ordinal != 0 {
			return ProtoErr(FrameRan, FaultValue, "rest with stream %d, flags %#x, rule %d, %d bytes, ordinal %d",
				e.Stream, e.Flags, e.Rule, n, e.Ordinal)
		}
	case EventHeld:
		if s.Out && !s.Ready {
			return ProtoErr(FrameRan, FaultStream, "held time on output stream %s, which has no tready", s.Name)
		}
		if e.Flags != 0 || e.Rule != 0 || n != 0 || e.Ordinal != 0 {
			return ProtoErr(FrameRan, FaultValue, "held time with flags %#x, rule %d, %d bytes, ordinal %d", e.Flags,
				e.Rule, n, e.Ordinal)
		}
	default:
		return ProtoErr(FrameRan, FaultValue, "record type %d", e.Kind)
	}
	return nil
}
