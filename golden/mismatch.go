package golden

import (
	"fmt"
	"strings"

	"nictwin/models/nicspec"
)

// FrameID names a frame at the NIC's boundary. The one that the device sent and the one that the reference expected have the same.
type FrameID struct {
	Sent bool   `json:"sent"` // by a work entry; else it came in
	Port int    `json:"port"` // at which it came in, or to which its work entry sends it
	N    uint32 `json:"n"`    // its port_seq [R1], or the wqe_id of its work entry
}

// Mismatch is one thing that the contract does not allow.
type Mismatch struct {
	NIC      string   `json:"nic,omitempty"` // its name, if it has one
	Rule     string   `json:"rule"`          // of docs/nic.md
	Domain   string   `json:"domain"`        // "rxq 3", "txq 0", "registers", "counters", "port 1", "device"
	Cycle    int64    `json:"cycle"`         // of the crossing that showed it
	Field    string   `json:"field"`         // the first that differs
	Expected string   `json:"expected"`
	Got      string   `json:"got"`
	Summary  []string `json:"summary,omitempty"`   // what is concerned, decoded
	Past     []string `json:"crossings,omitempty"` // the domain's latest crossings, oldest first
	GoFile   string   `json:"go_file,omitempty"`   // the pair of blocks that is responsible, as far as known
	RTLFile  string   `json:"rtl_file,omitempty"`

	At    Domain   `json:"at"`              // Domain in parts
	Index int      `json:"index"`           // of the descriptor or work entry concerned; NoIndex if there is none
	Frame *FrameID `json:"frame,omitempty"` // the frame concerned, nil if there is none
}

// NoIndex is the Index of a mismatch that is about no descriptor or work entry.
const NoIndex = -1

// String is one line: where, what, and the values.
func (m *Mismatch) String() string {
	nic := ""
	if m.NIC != "" {
		nic = "NIC " + m.NIC + ", "
	}
	return nic + fmt.Sprintf("cycle %d, %s [%s] %s: expected %s, got %s", m.Cycle, m.Domain, m.Rule, m.Field, m.Expected, m.Got)
}

// Detail is the mismatch with all that is known of it, on several lines.
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

// ledger is the mismatches of a run.
type ledger struct {
	kept  []*Mismatch
	total uint64
	kinds []Tally
	notes []string
	noted uint64
}

// Tally counts mismatches of one kind.
type Tally struct {
	Rule   string `json:"rule"`
	Domain string `json:"domain"`
	Field  string `json:"field"`
	Count  uint64 `json:"count"`
}

const (
	maxTallies = 256 // kinds of mismatch counted apart
	maxNotes   = 32
)

func (l *ledger) tally(d, rule, field string) {
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

// subject is what a mismatch is about, besides its domain.
type subject struct {
	frame *FrameID
	index int
}

// fail records a mismatch. Everything it is given is evaluated by the caller,
// so it is called where a mismatch is certain and nowhere else.
func (r *Referee) fail(d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	return r.failOf(subject{index: NoIndex}, d, rule, field, expected, got, summary...)
}

// failRx is fail for a frame that came in, which it describes last.
func (r *Referee) failRx(f *rxFrame, index int, d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	s := subject{frame: f.id(), index: index}
	return r.failOf(s, d, rule, field, expected, got, append(summary, r.describe(f))...)
}

// failEntry is fail for a work entry, which it describes last.
func (r *Referee) failEntry(e *txEntry, d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	return r.failOf(e.subject(), d, rule, field, expected, got, append(summary, e.describe())...)
}

func (r *Referee) failOf(s subject, d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	l := &r.log
	l.total++
	l.tally(d.String(), rule, field)
	m := &Mismatch{
		NIC: r.cfg.NIC, Rule: rule, Domain: d.String(), Cycle: r.now, Field: field, Expected: expected, Got: got, Summary: summary,
		At: d, Index: s.index, Frame: s.frame,
	}
	if r.ofFrame == nil {
		r.ofFrame = m
	}
	if len(l.kept) >= r.cfg.MaxMismatches {
		return m
	}
	m.Past = r.past.list(d)
	m.GoFile, m.RTLFile = responsible(d, rule, field)
	l.kept = append(l.kept, m)
	if r.cfg.OnMismatch != nil {
		r.cfg.OnMismatch(m)
	}
	return m
}

// id names the frame.
func (f *rxFrame) id() *FrameID { return &FrameID{Port: f.port, N: f.seq} }

// id names the frame that the entry sends, nil if it sends none.
func (e *txEntry) id() *FrameID {
	if w := nicspec.Wqe(e.raw[:]); w.Opcode() == nicspec.OpcodeSend {
		return &FrameID{Sent: true, Port: e.plan.Port, N: w.WqeId()}
	}
	return nil
}

func (e *txEntry) subject() subject { return subject{frame: e.id(), index: int(e.index)} }

// note records something that is not the device's fault.
func (r *Referee) note(format string, args ...any) {
	l := &r.log
	l.noted++
	if len(l.notes) < maxNotes {
		l.notes = append(l.notes, fmt.Sprintf("cycle %d: ", r.now)+fmt.Sprintf(format, args...))
	}
}
