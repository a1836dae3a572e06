package device

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/rnic"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
)

// hardware is a NIC with a hardware RDMA transport. It has its own programming interface (models/rnic/rnicspec), so
// neither the contract NIC's driver nor the referee can be used with it.
type hardware struct{ *rnic.Comp }

// RNIC puts a NIC with a hardware RDMA transport into slots. It adopts the slot's clock, and the rate of its Ethernet
// link if there is one; the Ethernet ports must match. A slot that demands sizes of the contract NIC, or stalls, is
// refused.
func RNIC(s rnic.Spec) board.Factory {
	return func(slot board.Slot) (board.NIC, error) {
		switch {
		case slot.Build != nil:
			return nil, field.Errorf("build", ": an rnic has none of the contract NIC's sizes and parts: want none")
		case slot.Stall != 0:
			return nil, field.Errorf("stall", "%d: the streams of an rnic have no beats: want 0", slot.Stall)
		case slot.Burst != 0:
			return nil, field.Errorf("burst", "%d: the streams of an rnic have no beats: want 0", slot.Burst)
		case slot.Ports != s.Ports:
			return nil, field.Errorf("ports", "%d: the rnic has %d", slot.Ports, s.Ports)
		}
		s := s
		if slot.Period != 0 {
			s.Freq.PeriodPs = slot.Period
		}
		if slot.Eth.Rate != (simcore.Rate{}) {
			s.Line = slot.Eth.Rate
		}
		c, err := rnic.Builder{Scheduler: slot.Engine, Spec: s, Frames: slot.Frames, TLPs: slot.TLPs, Bar: slot.Bar,
			ID: slot.ID}.Build(slot.Name)
		if err != nil {
			return nil, fmt.Errorf("rnic: %w", err)
		}
		return hardware{c}, nil
	}
}

// putRNIC puts the NIC model that a board names into its slot, with the slot's ports and the limits of its roots.
func putRNIC(slot board.Slot) (board.NIC, error) {
	s, err := rnic.Preset(slot.Device.Model)
	if err == nil {
		s.Ports, s.Limits = slot.Ports, slot.Limits
		var nic board.NIC
		if nic, err = RNIC(s)(slot); err == nil {
			return nic, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", slot.Name, err)
}

func (h hardware) Begin(func() bool) error { return nil }
func (h hardware) EthBits() int            { return 0 }
func (h hardware) Period() simcore.Ps      { return h.Spec().Freq.Period() }
func (h hardware) Check() error            { return h.Err() }
func (h hardware) Cycles() int64           { return h.Cycle() }
func (h hardware) Build() string           { return "" }
func (h hardware) Digest() uint64          { return 0 }
func (h hardware) Wall() rtlbridge.Wall    { return rtlbridge.Wall{} }
func (h hardware) Close() error            { return nil }

var _ Device = hardware{}
