package run

import (
	"nictwin/models/board"
	"nictwin/models/sim/field"
)

// CheckDUTs finds the manifests of the RTL devices that the case names. It returns the first error, with its line in
// the scenario.
func (c *Case) CheckDUTs(o *Options) error {
	for i, v := range o.override(c.rack()).Servers {
		d := &v.Cards[0].Device
		if d.Kind != board.DeviceRTL || d.DUT == "" {
			continue
		}
		if _, err := c.finder(o).DUT(d.DUT); err != nil {
			return c.Locate(field.Errorf(c.devicePath(i)+".dut", ": %w", err))
		}
	}
	return nil
}
