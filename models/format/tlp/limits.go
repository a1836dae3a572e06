package tlp

import (
	"errors"
	"nictwin/models/sim/field"
)

// Limits are the size limits for TLPs that a link's configuration sets, in bytes.
type Limits struct {
	MPS  int `yaml:"mps" unit:"bytes"`  // max payload size: 128, 256, 512, 1024, 2048 or 4096 (PCIe 2.2.2)
	MRRS int `yaml:"mrrs" unit:"bytes"` // max read request size: same values as MPS (PCIe 2.2.7)
	RCB  int `yaml:"rcb" unit:"bytes"`  // read completion boundary of the root: 64 or 128 (PCIe 2.3.1.1)
}

// DefaultLimits returns the limits of a link after reset (PCIe 7.5.3).
func DefaultLimits() Limits { return Limits{MPS: 128, MRRS: 512, RCB: 64} }

// EndpointRCB is the read completion boundary of every completer that is not
// a root complex (PCIe 2.3.1.1).
const EndpointRCB = 128

// Validate reports every limit that is not a legal setting.
func (l Limits) Validate() error {
	var errs []error
	if !legalSize(l.MPS) {
		errs = append(errs, field.Errorf("mps", "%d: want 128, 256, 512, 1024, 2048 or 4096", l.MPS))
	}
	if !legalSize(l.MRRS) {
		errs = append(errs, field.Errorf("mrrs", "%d: want 128, 256, 512, 1024, 2048 or 4096", l.MRRS))
	}
	if !legalRCB(l.RCB) {
		errs = append(errs, field.Errorf("rcb", "%d: want 64 or 128", l.RCB))
	}
	return errors.Join(errs...)
}

// loosest returns the limits under which everything is legal that is legal under a or under b.
func loosest(a, b Limits) Limits {
	return Limits{MPS: max(a.MPS, b.MPS), MRRS: max(a.MRRS, b.MRRS), RCB: min(a.RCB, b.RCB)}
}

func legalSize(n int) bool { return n >= 128 && n <= PageBytes && n&(n-1) == 0 }

func legalRCB(n int) bool { return n == 64 || n == 128 }
