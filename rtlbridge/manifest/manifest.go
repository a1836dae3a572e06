package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/rtlbridge/protocol"
)

// Manifest describes one device: its sources and how its pins form clocks, resets and streams. Widths and directions
// are not in it; they are read from the verilated design and checked against it by Bind.
type Manifest struct {
	Name           string            `yaml:"name"`
	Top            string            `yaml:"top"`
	Sources        []string          `yaml:"sources"`         // ordered; globs; *.f are file lists
	IncludeDirs    []string          `yaml:"include_dirs"`    // searched for `include
	Defines        map[string]string `yaml:"defines"`         // macro -> value, may be empty
	Parameters     map[string]string `yaml:"parameters"`      // of the top module
	VerilatorFlags []string          `yaml:"verilator_flags"` // appended to the command line
	Clocks         []Clock           `yaml:"clocks"`
	Resets         []Reset           `yaml:"resets"`
	Streams        []Stream          `yaml:"streams"`
	TieOffs        map[string]string `yaml:"tie_offs"` // input -> constant: decimal, 0x..., 0b...
	// constant for all unbound inputs; "": no input may be unbound
	TieRest string   `yaml:"tie_rest"`
	Observe []string `yaml:"observe"` // status outputs to sample
	Busy    string   `yaml:"busy"`    // one of Observe: the device is active while it is not zero
	// SkipIdle declares that the design reads nothing but its state and pins: no time, random numbers, files or C
	// functions. Cycles in which neither changes may then be skipped while Busy is zero.
	SkipIdle bool `yaml:"skip_idle"`

	// Play configures how `nictwin play` drives and checks the device (scenarios/play). It is not part of the
	// build.
	Play yaml.Node `yaml:"play" json:"-"`

	// Path is the file the manifest was read from; all paths in it are relative to its folder.
	Path  string         `yaml:"-" json:"-"`
	lines map[string]int // YAML path ("streams[1].prefix") -> line
}

// Clock is a clock input and its period in picoseconds.
type Clock struct {
	Signal   string `yaml:"signal"`
	PeriodPs int64  `yaml:"period_ps"`
}

// Reset is a synchronous or asynchronous reset input, held active for Cycles cycles before cycle 0.
type Reset struct {
	Signal string `yaml:"signal"`
	Active string `yaml:"active"` // "high" or "low"
	Cycles int    `yaml:"cycles"` // default 16
}

// Stream is a group of pins that carry transactions.
type Stream struct {
	Name    string            `yaml:"name"`
	Kind    string            `yaml:"kind"`    // "axis", "tlp", "record", "level", "axi4" or "axil"
	Dir     string            `yaml:"dir"`     // "in" (into the device) or "out"
	Prefix  string            `yaml:"prefix"`  // pin of role R is <prefix>_R unless Signals names it
	Signals map[string]string `yaml:"signals"` // role -> pin; "!pin" of a handshake: active low
	// bytes per tkeep bit: 1 (default) or 4; 0: no tkeep, whole beats only
	KeepUnit *int `yaml:"keep_unit"`
	// roles whose bytes, valid with the first beat, form the side bytes
	Side   []string `yaml:"side"`
	Ready  *bool    `yaml:"ready"`  // false: the stream has no tready
	Fields []string `yaml:"fields"` // of a record or level: roles, each a pin
	// signal of the stream's clock; "": the first one
	Clock string   `yaml:"clock"`
	Omit  []string `yaml:"omit" json:"-"` // of an AXI port: fields that the design lacks
	// ReadyAnswers: tready is high only in a cycle in which tvalid is seen: an acknowledge in the same cycle.
	// Outputs only.
	ReadyAnswers bool `yaml:"ready_answers"`
	// FieldsLate: of an output record: its fields are those of the cycle after the handshake, as behind a registered
	// read port.
	FieldsLate bool `yaml:"fields_late"`
	// After names another input: the n-th transaction of this stream is not offered before the n-th of that
	// input has been accepted. With names another input, too: the n-th transactions of both are offered in the
	// same cycle.
	After string `yaml:"after"`
	With  string `yaml:"with"`
	// SideHeld: side-band signals are stable over the whole transaction. An input is driven so (otherwise only
	// with the first beat), an output is checked for it.
	SideHeld    bool `yaml:"side_held"`
	ZeroPadding bool `yaml:"zero_padding"` // an output is checked for zero bytes beyond tkeep
	Lane        int  `yaml:"lane"`         // which slice of flattened vectors this stream is
	// number of slices of the vectors; 0 means 1. Without field `lane`, the entry stands for a stream per slice:
	// <name>0, <name>1, ...
	Lanes   int            `yaml:"lanes"`
	Strides map[string]int `yaml:"strides"` // role -> bits from lane to lane; default width/lanes
}

// Directions of streams.
const (
	DirIn  = "in"
	DirOut = "out"
)

// HasReady reports whether the stream has back-pressure.
func (s *Stream) HasReady() bool { return s.Kind != protocol.KindLevel && (s.Ready == nil || *s.Ready) }

// Packets reports whether the stream has data and an end of each transaction.
func (s *Stream) Packets() bool { return s.Kind == protocol.KindAxis || s.Kind == protocol.KindTLP }

// side returns the roles whose values are in the bridge's side bytes, beside a transaction's data: of packet
// streams those in Side, of records and levels all fields.
func (s *Stream) side() []string {
	if s.Packets() {
		return s.Side
	}
	return s.Fields
}

// Unit returns the number of bytes per tkeep bit; 0 when there is no tkeep.
func (s *Stream) Unit() int {
	if !s.Packets() {
		return 0
	}
	if s.KeepUnit == nil {
		return 1
	}
	return *s.KeepUnit
}

func (s *Stream) lanes() int {
	if s.Lanes == 0 {
		return 1
	}
	return s.Lanes
}

// validRole and readyRole return the roles of the handshake.
func (s *Stream) validRole() string {
	if s.Packets() {
		return "tvalid"
	}
	return "valid"
}

func (s *Stream) readyRole() string {
	if s.Packets() {
		return "tready"
	}
	return "ready"
}

// roles returns all roles of the stream.
func (s *Stream) roles() []string {
	switch s.Kind {
	case protocol.KindRecord:
		return append([]string{"valid", "ready"}, s.Fields...)
	case protocol.KindLevel:
		return s.Fields
	}
	return append([]string{"tdata", "tkeep", "tlast", "tvalid", "tready"}, s.Side...)
}

// clock returns the index of a clock by its signal, 0 for none.
func (m *Manifest) clock(signal string) int {
	return max(0, slices.IndexFunc(m.Clocks, func(c Clock) bool { return c.Signal == signal }))
}

// Pin returns the port that has a role.
func (s *Stream) Pin(role string) string {
	if p, ok := s.Signals[role]; ok {
		return strings.TrimPrefix(p, invertMark)
	}
	if s.Prefix == "" {
		return role
	}
	return s.Prefix + "_" + role
}

// invertMark precedes the pin of an active-low handshake: ready: "!full".
const invertMark = "!"

// inverted reports whether the pin of a role is active low.
func (s *Stream) inverted(role string) bool { return strings.HasPrefix(s.Signals[role], invertMark) }

// Pins returns the ports of the stream, those of its handshake first.
func (s *Stream) Pins() (list []string) {
	list = append(list, s.Pin(s.validRole()))
	if s.HasReady() {
		list = append(list, s.Pin(s.readyRole()))
	}
	if s.Kind == protocol.KindLevel {
		list = nil
	}
	if s.Packets() {
		list = append(list, s.Pin("tlast"), s.Pin("tdata"))
		if s.Unit() != 0 {
			list = append(list, s.Pin("tkeep"))
		}
	}
	for _, r := range s.side() {
		list = append(list, s.Pin(r))
	}
	return list
}

// Error is one fault of a manifest.
type Error struct {
	Path string
	Line int // 0 if the fault has no line
	Msg  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
}

var _ error = (*Error)(nil)

// Dir returns the folder that the manifest's paths are relative to.
func (m *Manifest) Dir() string { return filepath.Dir(m.Path) }

// Line returns the line of the YAML value at path or of its nearest known ancestor.
func (m *Manifest) Line(path string) int {
	for path != "" {
		if n, ok := m.lines[path]; ok {
			return n
		}
		if i := strings.LastIndexAny(path, ".["); i >= 0 {
			path = path[:i]
		} else {
			path = ""
		}
	}
	return 0
}

func (m *Manifest) Errorf(path, format string, args ...any) error {
	return &Error{Path: m.Path, Line: m.Line(path), Msg: fmt.Sprintf(format, args...)}
}
