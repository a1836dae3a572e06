package testbed

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/device"
)

// Spec configures a board.
type Spec struct {
	device.Spec // of the NIC: what counts in cycles on the board counts in those of its clock

	Seed  uint64
	Stall int // percent of cycles with gaps and back-pressure, 0 to 90

	// LinkCycles is the latency of both links, in cycles. It bounds the quantum: see rtlbridge.MaxQuantum.
	LinkCycles int

	// Credits bound the messages in flight on a link, each way but Ethernet into the NIC; 0: 4,096. They are usable again
	// LinkCycles after the receiver has taken a message.
	Credits int

	Endpoint *board.Endpoint // what stands behind the PCIe link; nil: EndpointFor Seed and Stall
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

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	errs = append(errs, s.Spec.Validate())
	if s.Stall < 0 || s.Stall > board.MaxStall {
		bad("--stall %d: want 0 to 90 percent", s.Stall)
	}
	if s.Endpoint != nil {
		errs = append(errs, s.Endpoint.Validate())
	}
	if s.Credits < 0 || s.Credits > maxCredits {
		bad("links with %d credits: want 1 to %d, or 0", s.Credits, maxCredits)
	}
	if s.LinkCycles < 1 || s.LinkCycles > maxLinkCycles {
		bad("links of %d cycles: want 1 to %d", s.LinkCycles, maxLinkCycles)
	}
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
