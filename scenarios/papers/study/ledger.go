package study

import "fmt"

// Ledger lists the bytes per byte of payload that a design moves across every link, in the cache and in DRAM.
type Ledger struct {
	Design  string `json:"design"`
	Payload uint64 `json:"payload_bytes"`
	Rows    []Row  `json:"rows"`
}

// Row is one counter of a component.
type Row struct {
	Where   string  `json:"where"` // PCIe1 in, LLC, DRAM
	What    string  `json:"what"`  // wire bytes, payload, fills, write-backs, reads, writes
	Bytes   uint64  `json:"bytes"`
	PerByte float64 `json:"per_payload_byte"`
}

// NewLedger begins a ledger for so many bytes of payload.
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

// Of returns the bytes per byte of payload of a row, or 0.
func (l *Ledger) Of(where, what string) float64 {
	for _, r := range l.Rows {
		if r.Where == where && r.What == what {
			return r.PerByte
		}
	}
	return 0
}

// Book keeps a ledger for the report.
func (s *Session) Book(l *Ledger) { s.Outcome.Ledgers = append(s.Outcome.Ledgers, *l) }

// BalanceError reports a component that lost or made bytes.
type BalanceError struct {
	Where   string
	In, Out uint64
}

func (e *BalanceError) Error() string {
	return fmt.Sprintf("%s does not conserve bytes: %d came in, %d went out or are held", e.Where, e.In, e.Out)
}

// Balance returns a *BalanceError unless both sides of a component's books are equal.
func Balance(where string, in, out uint64) error {
	if in == out {
		return nil
	}
	return &BalanceError{where, in, out}
}

var _ error = (*BalanceError)(nil)
