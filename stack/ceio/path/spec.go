package path

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/stack/ceio/manager"
)

// Ps is a time in picoseconds.
type Ps = manager.Ps

// Spec holds the parameters of a server's paths. FastSlots is that of the node's buffers; buffers are not lent.
type Spec struct {
	manager.Spec `yaml:",inline"`

	// PacketCycles is the cost of a packet in the software ring, an assumption.
	PacketCycles int64 `yaml:"packet_cycles"`

	// MessagePackets is the number of packets of a message, for the batch after which credits return.
	MessagePackets int `yaml:"message_packets"`

	// ArmPeriod is the time from one look of the controller `arm` at the hits of all rules to the next one, at least.
	ArmPeriod Ps `yaml:"arm_period_ps"`
}

// DefaultSpec returns the parameters of a manager, with messages of one packet.
func DefaultSpec() Spec {
	return Spec{Spec: manager.DefaultSpec(), PacketCycles: 20, MessagePackets: 1, ArmPeriod: 1e6}
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	errs := []error{s.Spec.Validate()}
	within := func(path field.Path, v, from, to int64) {
		if v < from || v > to {
			errs = append(errs, field.Errorf(path, "%d: want %d to %d", v, from, to))
		}
	}
	within("packet_cycles", s.PacketCycles, 0, 1<<20)
	within("message_packets", int64(s.MessagePackets), 1, 1<<20)
	within("arm_period_ps", s.ArmPeriod, 1, manager.Never/4)
	if s.Lend {
		errs = append(errs, field.Errorf("lend", "true: want false: the applications of a node lend no buffers"))
	}
	return errors.Join(errs...)
}
