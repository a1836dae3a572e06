package testbed

import (
	"cmp"
	"errors"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
)

// Spec configures a Bed.
type Spec struct {
	device.Spec // of the NIC; cycles in the fields below are cycles of its clock

	Seed  uint64
	Stall int // percentage of cycles with gaps, and of cycles with back-pressure, 0 to 90
	Burst int // streams stall, or flow, for 2^Burst cycles at a time, 0 to board.MaxBurst; see board.Slot

	// LinkCycles is the latency of the PCIe link and of the Ethernet link, in cycles. It bounds the quantum: see
	// rtlbridge.MaxQuantum.
	LinkCycles int

	// Credits bound the messages in flight on a link, in each direction except Ethernet into the NIC; 0 means 4,096.
	// The receiver returns a credit when it takes a message; the sender can use it LinkCycles later.
	Credits int

	Endpoint *board.Endpoint   // memories behind the PCIe link; nil: those of board.EndpointFor(Seed, Stall)
	Switch   *board.SwitchSpec // with a root complex for each endpoint; nil: one root complex, and no switch

	// Card describes the whole card, instead of LinkCycles, Credits, Endpoint and Switch. Ports, EthBits, PeriodPs and
	// Build above default to the card's. With Stall, the card's endpoint gets the delays of EndpointFor in addition.
	Card *board.CardSpec
}

// DefaultLinkCycles allows two quanta of 128 cycles to be pipelined.
const DefaultLinkCycles = 256

const (
	maxLinkCycles = 1 << 16
	maxCredits    = 1 << 16
)

// DefaultSpec returns the spec of an RTL device built for speed, without stalls.
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
	bad(s.Burst >= 0 && s.Burst <= board.MaxBurst, "burst", "%d: want 0 to %d", s.Burst, board.MaxBurst)
	if s.Endpoint != nil {
		errs = append(errs, field.Under("endpoint", s.Endpoint.Validate()))
	}
	if s.Card != nil {
		errs = append(errs, s.validateCard())
		return errors.Join(errs...)
	}
	bad(s.Credits >= 0 && s.Credits <= maxCredits, "credits", "%d: want 1 to %d, or 0", s.Credits, maxCredits)
	bad(s.LinkCycles >= 1 && s.LinkCycles <= maxLinkCycles, "link_cycles", "%d: want 1 to %d", s.LinkCycles,
		maxLinkCycles)
	return errors.Join(errs...)
}

// validateCard checks that settings given both in the spec and in its card agree.
func (s *Spec) validateCard() error {
	var errs []error
	if s.Endpoint != nil || s.Switch != nil || s.Credits != 0 {
		errs = append(errs, field.Errorf("card", ": has endpoint, switch and credits of its own: want none beside it"))
	}
	for _, x := range [...]struct {
		path      field.Path
		got, want int
	}{{"ports", s.Ports, max(s.Card.Ports, 1)}, {"eth_bits", s.EthBits, s.Card.EthBits}} {
		if x.got != 0 && x.want != 0 && x.got != x.want {
			errs = append(errs, field.Errorf(x.path, "%d: the card has %d", x.got, x.want))
		}
	}
	card := *s.Card
	card.Period = cmp.Or(s.PeriodPs, card.Period)
	return errors.Join(append(errs, field.Under("card", card.Validate()))...)
}

// resolved returns the spec with settings that it does not give taken from the card.
func (s Spec) resolved() Spec {
	if c := s.Card; c != nil {
		s.Ports, s.EthBits = cmp.Or(s.Ports, c.Ports), cmp.Or(s.EthBits, c.EthBits)
		s.PeriodPs = cmp.Or(s.PeriodPs, c.Period)
		if s.Build == nil {
			s.Build = c.Build
		}
	}
	return s
}

// card returns the card for a device with this clock period. Both links of a plain card have the same latency.
func (s *Spec) card(period simcore.Ps) board.CardSpec {
	if s.Card != nil {
		c := *s.Card
		c.Build, c.Ports, c.EthBits, c.Period, c.Seed, c.Stall, c.Burst = s.Build, s.Ports, s.EthBits, period, s.Seed,
			s.Stall, s.Burst
		c.Endpoint.Shake(s.Seed, s.Stall)
		return c
	}
	latency := simcore.Ps(s.LinkCycles) * period
	pcie := simcore.LinkSpec{Latency: latency, Credits: cmp.Or(s.Credits, linkCredits), CreditLatency: latency}
	eth := pcie
	eth.Credits, eth.ReverseCredits = linkCredits, pcie.Credits // Ethernet into the NIC cannot be held back
	return board.CardSpec{
		Name: "Card", Build: s.Build, Ports: s.Ports, EthBits: s.EthBits, Period: period, PCIe: pcie, Eth: eth,
		Endpoint: s.endpoint(), Switch: s.Switch, Seed: s.Seed, Stall: s.Stall, Burst: s.Burst,
	}
}

// MaxQuantum returns the longest quantum, in cycles, that the bridge can use on links of this latency.
func MaxQuantum(mode rtlbridge.Mode, linkCycles int) uint32 {
	const period = 2 // any period: the result depends on the ratio of latency to period only
	latency := simcore.Ps(linkCycles) * period
	return rtlbridge.MaxQuantum(period, mode, latency, latency)
}

func (s *Spec) endpoint() board.Endpoint {
	if s.Endpoint != nil {
		return *s.Endpoint
	}
	return board.EndpointFor(s.Seed, s.Stall)
}
