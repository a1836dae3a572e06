package host

import (
	"errors"
	"fmt"

	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// Spec configures a Root.
type Spec struct {
	ArmBytes  uint64     `yaml:"arm_bytes"`  // size of Arm memory, from offset 0
	HostBytes uint64     `yaml:"host_bytes"` // size of host memory, from offset 0
	Latency   simcore.Ps `yaml:"latency_ps"` // read arrived to first completion sent
	Jitter    simcore.Ps `yaml:"jitter_ps"`  // up to this much more, by seed, for each read: shuffles reads
	Limits    tlp.Limits `yaml:"limits"`     // MPS and RCB split completions
	RandomCpl bool       `yaml:"random_cpl"` // split completions at boundaries drawn from the seed, not as few as possible
	Seed      uint64     `yaml:"seed"`
	Tags      int        `yaml:"tags"`           // register reads in flight
	Timeout   simcore.Ps `yaml:"reg_timeout_ps"` // a register read unanswered for this long is an error
}

// DefaultSpec is 1 GB of Arm and 1 GB of host memory, 300 ns away.
func DefaultSpec() Spec {
	return Spec{
		ArmBytes: 1 << 30, HostBytes: 1 << 30, Latency: 300 * simcore.Nanosecond,
		Limits: tlp.Limits{MPS: 256, MRRS: 512, RCB: 64}, Tags: 32, Timeout: simcore.Millisecond,
	}
}

const maxMemory = 1 << 56 // the offset part of a bus address

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(field string, got any, want string) {
		errs = append(errs, fmt.Errorf("host: %s is %v: want %s", field, got, want))
	}
	if s.ArmBytes == 0 || s.ArmBytes > maxMemory {
		bad("arm_bytes", s.ArmBytes, "1 to 2^56")
	}
	if s.HostBytes == 0 || s.HostBytes > maxMemory {
		bad("host_bytes", s.HostBytes, "1 to 2^56")
	}
	if s.Latency < 0 || s.Latency > simcore.Second {
		bad("latency_ps", int64(s.Latency), "0 to 1 s")
	}
	if s.Jitter < 0 || s.Jitter > simcore.Second {
		bad("jitter_ps", int64(s.Jitter), "0 to 1 s")
	}
	if s.Tags < 1 || s.Tags > 256 {
		bad("tags", s.Tags, "1 to 256")
	}
	if s.Timeout <= 0 {
		bad("reg_timeout_ps", int64(s.Timeout), "more than 0")
	}
	if err := s.Limits.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("host: limits: %w", err))
	}
	return errors.Join(errs...)
}
