package root

import (
	"errors"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Spec configures a Root.
type Spec struct {
	Latency simcore.Ps    `yaml:"latency_ps"` // from a read's arrival to its first access to memory
	Limits  tlp.Limits    `yaml:"limits"`     // MPS and RCB split completions
	Split   tlp.CplPolicy `yaml:"split"`      // which of the boundaries allowed by the limits are used
	Seed    uint64        `yaml:"seed"`       // of tlp.CplRandom
	// memory accesses in flight for each read; 0: no bound other than its number of completions
	Ahead   int        `yaml:"ahead"`
	Tags    int        `yaml:"tags"`           // register reads in flight of each requester
	Timeout simcore.Ps `yaml:"reg_timeout_ps"` // a register read unanswered for longer is an error
}

// DefaultSpec returns a root complex that accesses memory 300 ns after a read arrives.
func DefaultSpec() Spec {
	return Spec{
		Latency: 300 * simcore.Nanosecond, Limits: tlp.Limits{MPS: 256, MRRS: 512, RCB: 64},
		Tags: 32, Timeout: simcore.Millisecond,
	}
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string) {
		errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
	}
	if s.Latency < 0 || s.Latency > simcore.Second {
		bad("latency_ps", int64(s.Latency), "0 to 1 s")
	}
	if s.Split > tlp.CplRandom {
		bad("split", int(s.Split), "0 (as few completions as possible), 1 (at each RCB) or 2 (at random)")
	}
	if s.Ahead < 0 {
		bad("ahead", s.Ahead, "0 (no bound) or more")
	}
	if s.Tags < 1 || s.Tags > 256 {
		bad("tags", s.Tags, "1 to 256")
	}
	if s.Timeout <= 0 {
		bad("reg_timeout_ps", int64(s.Timeout), "more than 0")
	}
	return errors.Join(append(errs, field.Under("limits", s.Limits.Validate()))...)
}
