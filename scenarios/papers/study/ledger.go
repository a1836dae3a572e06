package study

import "fmt"

// Ledger lists the bytes that a design moves over every link, in the cache and in DRAM, per byte of payload.
type Ledger struct {
	Design  string `json:"design"`
	Payload uint64 `json:"payload_bytes"`
	Rows    []Row  `json:"rows"`
}

// Row is one counter of a component, per byte of payload.
type Row struct {
	Where   string  `json:"where"` // PCIe1 in, LLC, DRAM
	What    string  `json:"what"`  // wire bytes, payload, fills, write-backs, reads, writes
	Bytes   uint64  `json:"bytes"`
	PerByte float64 `json:"per_payload_byte"`
}

// NewLedger begins a ledger for a number of bytes of payload.
func NewLedger(design string, payload uint64) *Ledger {
	return &Ledger{Design: design, Payload: payload}
}

// Add adds a counter.
func (l *Ledger) Add(where, what string, bytes uint64) {
	r := Row{Where: where, What: what, Bytes: bytes}
	if l.Payload > 0 {
		r.PerByte = float64(bytes) / float64(l.Payload)
	}
	l.Rows = append(l.Rows, r)
}

// Of returns a row's bytes per byte of payload; 0 if there is no such row.
func (l *Ledger) Of(where, what string) float64 {
	for _, r := range l.Rows {
		if r.Where == where && r.What == what {
			return r.PerByte
		}
	}
	return 0
}

// Book records a ledger for the report.
func (s *Session) Book(l *Ledger) { s.Outcome.Ledgers = append(s.Outcome.Ledgers, *l) }

// BalanceError reports a component whose bytes in and out differ.
type BalanceError struct {
	Where   string
	In, Out uint64
}

func (e *BalanceError) Error() string {
	return fmt.Sprintf("%s does not conserve bytes: %d came in, %d went out or are held", e.Where, e.In, e.Out)
}

// Balance returns a *BalanceError unless as many bytes left a component as entered it.
func Balance(where string, in, out uint64) error {
	if in == out {
		return nil
	}
	return &BalanceError{where, in, out}
}

var _ error = (*BalanceError)(nil)
