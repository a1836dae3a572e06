package testbed

import (
	"errors"

	"nictwin/models/board"
	"nictwin/models/field"
	"nictwin/models/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/device"
)

// Spec configures a Bed.
type Spec struct {
	device.Spec // of the NIC; its clock is the one of all cycles here

	Seed  uint64
	Stall int // percent of cycles with gaps and back-pressure, 0 to 90

	// LinkCycles is the latency of both links, in cycles. It bounds the quantum: see rtlbridge.MaxQuantum.
	LinkCycles int

	// Credits bound the messages in flight on a link, each way but Ethernet into the NIC; 0: 4,096. The
	// receiver returns a credit when it takes a message; the sender can use it LinkCycles later.
	Credits int

	Endpoint *board.Endpoint   // what stands behind the PCIe link; nil: board.EndpointFor(Seed, Stall)
	Switch   *board.SwitchSpec // and before it, with a root for each endpoint; nil: one root for both
}

// DefaultLinkCycles lets two quanta of 128 cycles be pipelined.
const DefaultLinkCycles = 256

const (
	maxLinkCycles = 1 << 16
	maxCredits    = 1 << 16
)

// DefaultSpec is RTL built for speed, without stalls.
func DefaultSpec() Spec {
	return Spec{Spec: device.Spec{NIC: device.RTL, Variant: "speed"}, LinkCycles: DefaultLinkCycles}
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	errs = append(errs, s.Spec.Validate())
	bad(s.Stall >= 0 && s.Stall <= board.MaxStall, "stall", "%d: want 0 to %d percent", s.Stall, board.MaxStall)
	if s.Endpoint != nil {
		errs = append(errs, field.Under("endpoint", s.Endpoint.Validate()))
	}
	bad(s.Credits >= 0 && s.Credits <= maxCredits, "credits", "%d: want 1 to %d, or 0", s.Credits, maxCredits)
	bad(s.LinkCycles >= 1 && s.LinkCycles <= maxLinkCycles, "link_cycles", "%d: want 1 to %d", s.LinkCycles, maxLinkCycles)
	return errors.Join(errs...)
}

// MaxQuantum is the longest quantum that links of so many cycles allow.
func MaxQuantum(mode rtlbridge.Mode, linkCycles int) uint32 {
	const period = 2 // whatever it is, it is that of the links, too
	latency := simcore.Ps(linkCycles) * period
	return rtlbridge.MaxQuantum(period, mode, latency, latency)
}

func (s *Spec) endpoint() board.Endpoint {
	if s.Endpoint != nil {
		return *s.Endpoint
	}
	return board.EndpointFor(s.Seed, s.Stall)
}
