package rtlbridge

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Limits of the protocol (docs/bridge.md), the same on both sides.
const (
	MaxFrameBytes = 64 << 20
	MaxDataBytes  = 1 << 20 // of one transaction
	MaxSideBytes  = 256
	MaxRunCycles  = 1 << 20 // of one quantum
	maxErrorText  = 8192
	maxRecords    = MaxFrameBytes / 16
)

// Version is the protocol version that this package speaks.
const Version = 3

const (
	magic       = 0x004e49575443494e // "NICTWIN\0"
	headBytes   = 8
	openBytes   = 48
	runBytes    = 24
	inputBytes  = 8
	recordBytes = 16
	eventBytes  = 32
	ranBytes    = 40
	unlimited   = 0xffffffff
)

// FrameType is the type of a protocol frame.
type FrameType uint16

// Frame types.
const (
	FrameOpen FrameType = iota + 1
	FrameHello
	FrameStart
	FrameInput
	FrameRun
	FrameRan
	FrameError
	FrameStop
)

var frameNames = [...]string{"", "OPEN", "HELLO", "START", "INPUT", "RUN", "RAN", "ERROR", "STOP"}

func (t FrameType) String() string {
	return nameOf(frameNames[:], int(t), "frame type")
}

// nameOf is the name of a code, or the code itself where there is none.
func nameOf(names []string, code int, what string) string {
	if code > 0 && code < len(names) {
		return names[code]
	}
	return fmt.Sprintf("%s %d", what, uint(code))
}

// Fault is the class of a protocol violation; both sides use the same classes.
type Fault string

// Protocol faults.
const (
	FaultTruncated Fault = "truncated"
	FaultTrailing  Fault = "trailing"
	FaultFrameType Fault = "frame-type"
	FaultLimit     Fault = "limit"
	FaultValue     Fault = "value"
	FaultStream    Fault = "stream"
	FaultMagic     Fault = "magic"
	FaultVersion   Fault = "version"
)

// ProtocolError is a frame that does not follow docs/bridge.md.
type ProtocolError struct {
	Frame FrameType
	Fault Fault
	Msg   string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("%v frame refused: %s: %s", e.Frame, e.Fault, e.Msg)
}

func protoErr(t FrameType, f Fault, format string, args ...any) error {
	return &ProtocolError{Frame: t, Fault: f, Msg: fmt.Sprintf(format, args...)}
}

// ErrorCode says why a device ended a session.
type ErrorCode uint32

// Codes of ERROR frames.
const (
	CodeProtocol ErrorCode = iota + 1 // it did not understand a frame
	CodeVersion                       // no common protocol version
	CodeToken                         // wrong token
	CodeLimit                         // a limit was exceeded
	CodeAssert                        // the design reported $error, $fatal, $stop or a failed assertion
	CodeFinish                        // the design called $finish
	CodeInternal                      // the simulation itself failed
	CodeIdle                          // the design changed in a cycle that could have been skipped
)

var codeNames = [...]string{"", "protocol", "version", "token", "limit", "assertion", "finish", "internal", "idle"}

func (c ErrorCode) String() string {
	return nameOf(codeNames[:], int(c), "code")
}

// DeviceError is what an ERROR frame says: the device's last words.
type DeviceError struct {
	Code  ErrorCode
	Cycle uint64
	Text  string
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("device stopped at cycle %d (%v): %s", e.Cycle, e.Code, e.Text)
}

// StreamInfo describes a stream as the running device declares it.
type StreamInfo struct {
	Name      string
	Kind      string // KindAxis and its like
	Out       bool
	Ready     bool // has back-pressure
	KeepUnit  int  // bytes per tkeep bit; 0: whole beats
	DataBytes int  // of one beat; 0: records and levels
	SideBytes int
	Clock     int      // index into Hello.Clocks
	Fields    []Signal // what the side bytes hold, each from a byte of its own on
}

// Packets reports whether the stream's transactions have data.
func (s *StreamInfo) Packets() bool { return s.Kind == KindAxis || s.Kind == KindTLP }

// ClockInfo is a clock and its period, unless START says otherwise.
type ClockInfo struct {
	Name     string
	PeriodPs int64
}

// Signal is an observed output or a tied input.
type Signal struct {
	Name  string
	Width int // bits
}

// Bytes is how many bytes hold the signal's bits.
func (s Signal) Bytes() int { return (s.Width + 7) / 8 }

// Hello is the device's introduction.
type Hello struct {
	Version   int
	BuildHash [32]byte
	PeriodPs  int64 // of the first clock, unless START says otherwise
	Clocks    []ClockInfo
	MaxFrame  int
	Busy      int  // index into Observe, -1: none
	SkipIdle  bool // all that the design reads is its state and pins: see Manifest.SkipIdle
	Streams   []StreamInfo
	Observe   []Signal
	Ties      []Signal
}

// StreamStart is how one stream behaves in a run.
type StreamStart struct {
	StallPercent int // input: gaps before beats; output: back-pressure; 0 to 100
	BurstLog2    int // one random draw decides for 2^n cycles; 0 to 16
	// Credits is the number of transactions an output may give before credits are returned; negative: unlimited.
	Credits  int
	MaxBytes int // of one transaction; 0 means DefaultMaxBytes
}

// DefaultMaxBytes is the longest transaction unless a run says otherwise.
const DefaultMaxBytes = 16 << 10

// Start opens a run.
type Start struct {
	Seed     uint64
	Watchdog uint64       // cycles after which a stuck stream is a violation; 0: never
	PeriodPs int64        // of the first clock
	Clocks   []ClockStart // of the others
	Poison   bool         // drive noise on idle input pins
	Idle     IdleMode
	Streams  []StreamStart
	Ties     []TieValue
}

// ClockStart is when the edges of a clock but the first are: at PhasePs, PhasePs + PeriodPs and so on.
type ClockStart struct {
	PeriodPs, PhasePs int64
}

// IdleMode says what becomes of cycles in which nothing of the device changes. Results are the same in all modes.
type IdleMode uint8

// Idle modes.
const (
	IdleSkip     IdleMode = iota // they are skipped if the device declares that they can be
	IdleEvaluate                 // they are evaluated
	IdleCheck                    // they are evaluated; a device that declares that they can be skipped, but changes in one, is an error
)

var idleNames = [...]string{"skip", "evaluate", "check"}

func (m IdleMode) String() string {
	if int(m) < len(idleNames) {
		return idleNames[m]
	}
	return fmt.Sprintf("idle mode %d", uint8(m))
}

// ParseIdleMode reads a mode by its name.
func ParseIdleMode(s string) (IdleMode, error) {
	for i, n := range idleNames {
		if s == n {
			return IdleMode(i), nil
		}
	}
	return 0, fmt.Errorf("%q: want %s", s, strings.Join(idleNames[:], ", "))
}

// TieValue overrides a tie-off of at most 64 bits for a run.
type TieValue struct {
	Index int // into Hello.Ties
	Value uint64
}

// EventKind is the kind of a record that a device reports.
type EventKind uint8

// Event kinds.
const (
	EventIn        EventKind = 1 // an input was accepted, as a whole or its first or last beat
	EventOut       EventKind = 2 // an output is complete
	EventViolation EventKind = 3 // a stream rule was broken
	EventRest      EventKind = 4 // the busy signal is not zero again, after it was zero from First to Last
	EventHeld      EventKind = 5 // a stream stood still for want of the other side from First to Last
)

var kindNames = [...]string{"", "input", "output", "broken rule", "rest", "held time"}

func (k EventKind) String() string {
	return nameOf(kindNames[:], int(k), "record type")
}

// Flags of an EventIn.
const (
	InBegin uint8 = 1 // its first beat was accepted
	InEnd   uint8 = 2 // its last beat was accepted
)

// Flags of a RAN frame.
const (
	RanQuiet   uint32 = 1 // no transaction waits or is under way
	RanPartial uint32 = 2 // the device stopped inside the quantum
	RanMore    uint32 = 4 // more RAN frames of this quantum follow
	RanStill   uint32 = 8 // nothing happens after this quantum unless a record comes; only if START had an idle flag
)

// Rule is an AXI-Stream rule that a device can break.
type Rule uint8

// Rules.
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

// Record is one record of a RAN frame. Side and Data point into the receive buffer and are valid until the next receive.
type Record struct {
	Kind    EventKind
	Stream  uint8
	Flags   uint8
	Rule    Rule
	Ordinal uint64 // of the transaction on its stream
	First   uint64 // cycle of the first beat, or first cycle of a rest or held time; of a violation: its cycle
	Last    uint64 // cycle of the last beat (so far, without InEnd), or last cycle; of a violation: its argument
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
	left    uint32 // of them
	rests   bool   // the device has a busy signal
	body    []byte
	streams []StreamInfo
}

func pad8(n int) int { return (n + 7) &^ 7 }

var le = binary.LittleEndian

func putHead(b []byte, t FrameType, payload int) {
	le.PutUint32(b, uint32(payload))
	le.PutUint16(b[4:], uint16(t))
	le.PutUint16(b[6:], 0)
}

// parseHead checks a frame header and returns the payload's length.
func parseHead(b []byte) (FrameType, int, error) {
	n, t := le.Uint32(b), FrameType(le.Uint16(b[4:]))
	switch {
	case le.Uint16(b[6:]) != 0:
		return t, 0, protoErr(t, FaultValue, "reserved field is not zero")
	case t < FrameOpen || t > FrameStop:
		return t, 0, protoErr(t, FaultFrameType, "unknown")
	case n > MaxFrameBytes || n%8 != 0:
		return t, 0, protoErr(t, FaultLimit, "%d bytes: needs a multiple of 8 up to %d", n, MaxFrameBytes)
	}
	return t, int(n), nil
}
