package golden

import (
	"fmt"
	"strings"
)

// Mismatch is one thing that the contract does not allow.
type Mismatch struct {
	Rule     string   `json:"rule"`   // of docs/nic.md
	Domain   string   `json:"domain"` // "rxq 3", "txq 0", "registers", "counters", "port 1", "device"
	Cycle    int64    `json:"cycle"`  // of the crossing that showed it
	Field    string   `json:"field"`  // the first that differs
	Expected string   `json:"expected"`
	Got      string   `json:"got"`
	Summary  []string `json:"summary,omitempty"`   // what is concerned, decoded
	Past     []string `json:"crossings,omitempty"` // the domain's latest crossings, oldest first
	GoFile   string   `json:"go_file,omitempty"`   // the pair of blocks that is responsible, as far as known
	RTLFile  string   `json:"rtl_file,omitempty"`
}

// String is one line: where, what, and the values.
func (m *Mismatch) String() string {
	return fmt.Sprintf("cycle %d, %s [%s] %s: expected %s, got %s", m.Cycle, m.Domain, m.Rule, m.Field, m.Expected, m.Got)
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

// fail records a mismatch. Everything it is given is evaluated by the caller,
// so it is called where a mismatch is certain and nowhere else.
func (r *Referee) fail(d Domain, rule, field, expected, got string, summary ...string) *Mismatch {
	l := &r.log
	l.total++
	l.tally(d.String(), rule, field)
	m := &Mismatch{
		Rule: rule, Domain: d.String(), Cycle: r.now, Field: field, Expected: expected, Got: got, Summary: summary,
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

// note records something that is not the device's fault.
func (r *Referee) note(format string, args ...any) {
	l := &r.log
	l.noted++
	if len(l.notes) < maxNotes {
		l.notes = append(l.notes, fmt.Sprintf("cycle %d: ", r.now)+fmt.Sprintf(format, args...))
	}
}
