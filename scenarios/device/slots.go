package device

import (
	"errors"
	"fmt"

	"nictwin/models/board"
)

// Slots fills every slot of a board: with what its spec wants, and else with a device as base has it. resolve finds the
// manifest of a DUT by its name; nil: names are paths.
func Slots(base Spec, resolve func(dut string) (string, error)) board.Factory {
	return func(slot board.Slot) (board.NIC, error) {
		if slot.Device.Kind == board.DeviceRNIC {
			return putRNIC(slot)
		}
		s, err := base.in(&slot, resolve)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", slot.Name, err)
		}
		o, err := Open(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", slot.Name, err)
		}
		nic, err := o.NIC(slot)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", slot.Name, err), o.Close())
		}
		return nic, nil
	}
}

// in is the spec of the device for a slot.
func (s Spec) in(slot *board.Slot, resolve func(string) (string, error)) (Spec, error) {
	s.Ports, s.EthBits, s.PeriodPs, s.slot = slot.Ports, slot.EthBits, slot.Period, slot.Name
	if slot.Build != nil {
		s.Build = slot.Build
	}
	want := &slot.Device
	switch want.Kind {
	case board.DeviceAny:
	case board.DeviceModel:
		s.NIC, s.Connect, s.Token = Model, "", ""
	case board.DeviceRTL:
		s.NIC, s.Connect, s.Token = RTL, "", ""
	case board.DeviceAddress:
		s.NIC, s.Connect = RTL, want.Address
	default:
		return s, fmt.Errorf("a device of kind %s: want %s, %s, %s or %s", want.Kind, board.DeviceModel, board.DeviceRTL, board.DeviceAddress, board.DeviceRNIC)
	}
	s.Wave = s.Wave.of(slot.Name)
	if s.NIC != RTL || s.Connect != "" {
		s.Wave = nil
	}
	if want.DUT == "" {
		return s, nil
	}
	s.Built, s.DUT = nil, want.DUT
	if resolve == nil {
		return s, nil
	}
	var err error
	s.DUT, err = resolve(want.DUT)
	return s, err
}
