package shring

import (
	"errors"
	"math/bits"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
)

// Spec holds the parameters of a shared ring.
type Spec struct {
	// Descriptors is the number of descriptors, and of buffers: 4,096 (ce.shring).
	Descriptors int `yaml:"descriptors"`

	// ScanCycles is the cost of comparing a completion entry with the flows of a core, besides its load: assumption.
	ScanCycles int64 `yaml:"scan_cycles"`
}

// DefaultSpec returns the parameters of CEIO's study.
func DefaultSpec() Spec { return Spec{Descriptors: 4096, ScanCycles: 4} }

// Log returns log2 of the descriptors.
func (s *Spec) Log() int { return bits.Len(uint(s.Descriptors)) - 1 }

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	const least, most = 1 << nicspec.LogSizeMin, 1 << nicspec.LogSizeMax
	if n := s.Descriptors; n < least || n > most || n&(n-1) != 0 {
		errs = append(errs, field.Errorf("descriptors", "%d: want a power of two, %d to %d", n, least, most))
	}
	const mostCycles = 1 << 20
	if s.ScanCycles < 0 || s.ScanCycles > mostCycles {
		errs = append(errs, field.Errorf("scan_cycles", "%d: want 0 to %d", s.ScanCycles, mostCycles))
	}
	return errors.Join(errs...)
}
