package device

import (
	"errors"
	"fmt"

	"nictwin/models/board"
)

// Finder resolves the names that a board's devices use. A nil Finder takes names of DUTs as paths, and gives no tokens.
type Finder struct {
	DUT     func(name string) (string, error) // returns the manifest of a DUT; nil: names are paths
	Address func(address string) string       // completes the path of a Unix socket; nil: paths stay as written
	Token   func(file string) (string, error) // returns the token in a file; nil: tokens are not supported
}

// Slots returns a factory that fills every slot of a board: with the device that the slot's spec names, or with base if
// the spec leaves it open.
func Slots(base Spec, find *Finder) board.Factory {
	if find == nil {
		find = new(Finder)
	}
	return func(slot board.Slot) (board.NIC, error) {
		if slot.Device.Kind == board.DeviceRNIC {
			return putRNIC(slot)
		}
		s, err := base.in(&slot, find)
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

// in returns the spec of the device for a slot: s, changed to what the slot requires.
func (s Spec) in(slot *board.Slot, find *Finder) (_ Spec, err error) {
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
		s.NIC, s.Connect, s.Token = RTL, want.Address, ""
		if find.Address != nil {
			s.Connect = find.Address(want.Address)
		}
		if find.Token != nil {
			if s.Token, err = find.Token(want.TokenFile); err != nil {
				return s, err
			}
		}
	default:
		return s, fmt.Errorf("a device of kind %s: want %s, %s, %s or %s", want.Kind, board.DeviceModel,
			board.DeviceRTL, board.DeviceAddress, board.DeviceRNIC)
	}
	s.Wave = s.Wave.of(slot.Name)
	if s.NIC != RTL || s.Connect != "" {
		s.Wave, s.Link = nil, nil
	}
	if want.DUT == "" {
		return s, nil
	}
	s.Built, s.DUT = nil, want.DUT
	if find.DUT != nil {
		s.DUT, err = find.DUT(want.DUT)
	}
	return s, err
}
