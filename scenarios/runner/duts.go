package runner

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/field"
)

// CheckDUTs finds the manifests of the RTL devices that the case names, by resolve, and returns the first fault, at its line.
func (c *Case) CheckDUTs(o *Options, resolve func(dut string) error) error {
	for i, v := range o.override(c.rack()).Servers {
		d := &v.Cards[0].Device
		if d.Kind != board.DeviceRTL || d.DUT == "" {
			continue
		}
		if err := resolve(d.DUT); err != nil {
			return c.located(field.Errorf(c.devicePath(i)+".dut", ": %w", err))
		}
	}
	return nil
}

// devicePath is the field of the device in the slot of a server.
func (s *Spec) devicePath(server int) field.Path {
	if n := len(s.Devices); n > 0 {
		return field.Path(fmt.Sprintf("devices[%d]", min(server, n-1)))
	}
	return s.cardPath(server) + ".device"
}
