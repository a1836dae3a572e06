package verdict

import (
	"fmt"
	"strings"

	"nictwin/models/nic/boundary"
)

// FrameID identifies a frame at the NIC's boundary. The frame sent by the device and the one
// expected by the reference have the same FrameID.
type FrameID struct {
	Sent bool   `json:"sent"` // the device sent the frame for a work entry; else it received the frame
	Port int    `json:"port"` // the port on which the frame came in, or that its work entry names
	N    uint32 `json:"n"`    // the frame's port_seq [R1], or the wqe_id of its work entry
}

// Mismatch is one violation of the contract.
type Mismatch struct {
	NIC      string   `json:"nic,omitempty"` // its name, if it has one
	Rule     string   `json:"rule"`          // of docs/nic.md
	Domain   string   `json:"domain"`        // "rxq 3", "txq 0", "registers", "counters", "port 1", "device"
	Cycle    int64    `json:"cycle"`         // of the crossing that showed it
	Field    string   `json:"field"`         // the first field that differs
	Expected string   `json:"expected"`
	Got      string   `json:"got"`
	Summary  []string `json:"summary,omitempty"`   // the subject, decoded
	Past     []string `json:"crossings,omitempty"` // the domain's latest crossings, oldest first
	GoFile   string   `json:"go_file,omitempty"`   // Go file of the responsible block, if known; RTLFile: its RTL file
	RTLFile  string   `json:"rtl_file,omitempty"`

	At    Domain   `json:"at"`              // Domain, structured
	Index int      `json:"index"`           // of the descriptor or work entry; NoIndex if none is concerned
	Frame *FrameID `json:"frame,omitempty"` // the frame, nil if none is concerned
}

// NoIndex is the Index of a mismatch that concerns no descriptor or work entry.
const NoIndex = -1

// String returns one line: place, rule and the two values.
func (m *Mismatch) String() string {
	nic := ""
	if m.NIC != "" {
		nic = "NIC " + m.NIC + ", "
	}
	return nic + fmt.Sprintf("cycle %d, %s [%s] %s: expected %s, got %s", m.Cycle, m.Domain, m.Rule, m.Field,
		m.Expected, m.Got)
}

// Detail returns the mismatch with its context, on several lines.
func (m *Mismatch) Detail() string {
	var b strings.Builder
	b.WriteString(m.String())
	if m.GoFile != "" {
		fmt.Fprintf(&b, "\n  blocks: %s, %s", m.GoFile, m.RTLFile)
	}
	for _, s := range m.Summary {
		b.WriteString("\n  " + s)
	}
	if len(m.Past) > 0 {
		fmt.Fprintf(&b, "\n  latest crossings of %s:", m.Domain)
	}
	for _, s := range m.Past {
		b.WriteString("\n    " + s)
	}
	return b.String()
}

// Log collects the findings of a run: mismatches, notes, exceeded bounds of the referee, and the
// latest crossings of each domain.
type Log struct {
	nic        string
	most       int
	onMismatch func(*Mismatch)

	at    *boundary.Crossing // current crossing, nil outside of one
	now   int64              // cycle in which the crossing ended
	past  history
	first *Mismatch // first mismatch since Begin

	kept         []*Mismatch
	total        uint64
	kinds        []Tally
	notes        []string
	noted        uint64
	met          [numLimits]uint64
	lastDoorbell lastDoorbell
}

// NewLog returns a log for a named NIC with these numbers of ports and queues. It keeps the first `most`
// mismatches in full, and calls onMismatch, if set, for each of them.
func NewLog(nic string, most int, onMismatch func(*Mismatch), ports, rxqs, txqs int) *Log {
	return &Log{nic: nic, most: most, onMismatch: onMismatch, now: -1, past: newHistory(ports, rxqs, txqs)}
}

// Tally counts mismatches of one kind.
type Tally struct {
	Rule   string `json:"rule"`
	Domain string `json:"domain"`
	Field  string `json:"field"`
	Count  uint64 `json:"count"`
}

const (
	maxTallies = 256 // kinds of mismatch that are counted separately
	maxNotes   = 32
)

func (l *Log) tally(d, rule, field string) {
	for i := range l.kinds {
		if k := &l.kinds[i]; k.Domain == d && k.Rule == rule && k.Field == field {
			k.Count++
			return
		}
	}
	if len(l.kinds) < maxTallies {
		l.kinds = append(l.kinds, Tally{Rule: rule, Domain: d, Field: field, Count: 1})
	}
}

// Subject is the frame, descriptor or work entry that a mismatch concerns.
type Subject struct {
	Frame *FrameID
	Index int // index of the descriptor or work entry, or NoIndex
}

// At sets the current crossing.
func (l *Log) At(x *boundary.Crossing) { l.at, l.now = x, x.Last }

// Fail records a mismatch.
func (l *Log) Fail(d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	return l.FailOf(Subject{Index: NoIndex}, d, rule, field, expected, got, summary...)
}

// FailOf is Fail for a mismatch that concerns a frame, a descriptor or a work entry.
func (l *Log) FailOf(s Subject, d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	l.total++
	l.tally(d.String(), rule, field)
	m := &Mismatch{
		NIC: l.nic, Rule: rule, Domain: d.String(), Cycle: l.now, Field: field, Expected: expected, Got: got,
		Summary: summary,
		At:      d, Index: s.Index, Frame: s.Frame,
	}
	if l.first == nil {
		l.first = m
	}
	if len(l.kept) >= l.most {
		return m
	}
	m.Past = l.past.list(d)
	m.GoFile, m.RTLFile = l.lastDoorbell.responsible(d, rule, field)
	l.kept = append(l.kept, m)
	if l.onMismatch != nil {
		l.onMismatch(m)
	}
	return m
}

// Begin makes FirstMismatch start over.
func (l *Log) Begin() { l.first = nil }

// FirstMismatch returns the first mismatch since Begin, or nil.
func (l *Log) FirstMismatch() *Mismatch { return l.first }

// Note records something that is not the device's fault.
func (l *Log) Note(format string, args ...any) {
	l.noted++
	if len(l.notes) < maxNotes {
		l.notes = append(l.notes, fmt.Sprintf("cycle %d: ", l.now)+fmt.Sprintf(format, args...))
	}
}

// AddCrossing adds the current crossing to the history of a domain. Between crossings and after the run it does
// nothing.
func (l *Log) AddCrossing(d Domain) {
	if l.at.Frame != nil || l.at.TLP != nil {
		l.past.note(d, l.at)
	}
}

// Latest returns the cycle of a domain's latest crossing, or math.MinInt64.
func (l *Log) Latest(d Domain) int64 { return l.past.latest(d) }

// Mismatches returns the number of mismatches so far.
func (l *Log) Mismatches() uint64 { return l.total }

// List returns the mismatches kept in full.
func (l *Log) List() []*Mismatch { return l.kept }

// Tallies returns all mismatches, counted by kind.
func (l *Log) Tallies() []Tally { return l.kinds }

// NoteList returns the notes, and their total number if some were left out.
func (l *Log) NoteList() []string {
	if l.noted > uint64(len(l.notes)) {
		return append(l.notes[:len(l.notes):len(l.notes)], fmt.Sprintf("%d notes in all", l.noted))
	}
	return l.notes
}
