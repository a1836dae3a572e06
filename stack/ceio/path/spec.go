package path

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/stack/ceio/manager"
)

// Ps is a time in picoseconds.
type Ps = manager.Ps

// Spec holds the parameters of a server's paths. FastSlots may be 0: as many as the node has buffers for a flow.
// Applications lend no buffers.
type Spec struct {
	manager.Spec `yaml:",inline"`

	// PacketCycles is the cost of a packet in the software ring, and once more of finding its flow in the shared ring:
	// assumption.
	PacketCycles int64 `yaml:"packet_cycles"`

	// SoftwareRing keeps the order of packets over the fast and the slow ring without anything that is kept by packet
	// (CEIO section 4.2). Without it, the core writes and reads an entry of a table in host memory for each packet that
	// it hands over, for PacketCycles more; flows of the shared ring have one ring, and pay nothing.
	SoftwareRing bool `yaml:"software_ring"`

	// SlowBytes is the length of buffers for slow packets, in the card and in the host. A run of packets is copied with
	// the gaps between them, so that short ones want short buffers. 0: as long as those of the fast path. Flows whose
	// headers are split off have no gaps, and those of the shared ring may have any length: both have the latter.
	SlowBytes int `yaml:"slow_bytes" unit:"bytes"`

	// ArmPeriod is the time from one look of the controller `arm` at the hits of all rules to the next one, at least.
	ArmPeriod quantity.Time `yaml:"arm_period"`
}

// DefaultSpec returns default parameters: those of a manager, with as many fast slots as the node has buffers.
func DefaultSpec() Spec {
	s := Spec{Spec: manager.DefaultSpec(), PacketCycles: 20, SoftwareRing: true, ArmPeriod: 1e6}
	s.FastSlots = 0
	return s
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	m := s.Spec
	if m.FastSlots == 0 {
		m.FastSlots = 1
	}
	errs := []error{m.Validate()}
	within := func(path field.Path, v, from, to int64) {
		errs = append(errs, field.Within(path, v, from, to))
	}
	ring := func(path field.Path, n int) {
		const least, most = 1 << nicspec.LogSizeMin, 1 << nicspec.LogSizeMax
		if n >= 1 && n <= most && (n < least || n&(n-1) != 0) { // the manager's spec refuses the others
			errs = append(errs, field.Errorf(path, "%d: want a power of two, %d to %d", n, least, most))
		}
	}
	ring("slow_slots", s.SlowSlots)
	ring("fast_slots", s.FastSlots)
	within("packet_cycles", s.PacketCycles, 0, 1<<20)
	within("slow_bytes", int64(s.SlowBytes), 0, nicspec.FrameMax)
	if s.SlowBytes%nicspec.LineBytes != 0 {
		errs = append(errs, field.Errorf("slow_bytes", "%d: want a multiple of %d", s.SlowBytes, nicspec.LineBytes))
	}
	errs = append(errs, field.Within("arm_period", s.ArmPeriod, 1, quantity.Time(manager.Never/4)))
	if s.Controller == manager.ControlNIC && s.ArmPeriod != DefaultSpec().ArmPeriod {
		errs = append(errs, field.Errorf("arm_period", "%v: %v %s has none: want none, or %s", s.ArmPeriod,
			field.Path("controller"), s.Controller, manager.ControlArm))
	}
	if !s.Reallocate {
		errs = append(errs, s.validateFixed())
	}
	if s.Lend {
		errs = append(errs, field.Errorf("lend", "true: want false: the applications of a node lend no buffers"))
	}
	return errors.Join(errs...)
}

// validateFixed refuses options that have no effect where every flow keeps its part of the credits.
func (s *Spec) validateFixed() error {
	var errs []error
	d := DefaultSpec()
	for _, x := range []struct {
		path field.Path
		set  bool
		v    any
	}{{"as_printed", s.AsPrinted, s.AsPrinted}, {"inactive", s.Inactive != d.Inactive, s.Inactive},
		{"reactivate", s.Reactivate != d.Reactivate, s.Reactivate}} {
		if x.set {
			errs = append(errs, field.Errorf(x.path, "%v: no flow gains or loses credits with %v false: want none, or "+
				"true there", x.v, field.Path("reallocate")))
		}
	}
	return errors.Join(errs...)
}
