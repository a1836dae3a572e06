package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"nictwin/models/board"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/home"
)

// Remote is a device of kind `address`: the user has started it elsewhere.
type Remote struct {
	Path      field.Path // field of the device in the file
	Address   string     // address; the path of a Unix socket is resolved
	TokenFile string     // path of the token file, relative paths resolved
}

// Remotes returns the devices of kind `address` that the case is played on.
func (c *Case) Remotes(o *Options) (list []Remote) {
	rack := o.override(c.rack())
	for i := range rack.Servers {
		if d := &rack.Servers[i].Cards[0].Device; d.Kind == board.DeviceAddress {
			list = append(list, Remote{c.devicePath(i), c.address(d.Address), c.beside(d.TokenFile)})
		}
	}
	return list
}

// Portable returns an error if the case names what only this machine has: devices that were started elsewhere,
// manifests by their path, and captures.
func (c *Case) Portable() error {
	if len(c.Background) > 0 {
		return c.Locate(field.Errorf("background[0].capture", "%q: bundles of scenarios have no captures",
			c.Background[0].Capture))
	}
	rack := c.rack()
	for i := range rack.Servers {
		d, at := &rack.Servers[i].Cards[0].Device, c.devicePath(i)
		switch {
		case d.Kind == board.DeviceAddress:
			return c.Locate(field.Errorf(at+".address", "%q: bundles have no device that was started elsewhere",
				d.Address))
		case d.DUT != "":
			return c.Locate(field.Errorf(at+".dut", "%q: bundles name no device in a scenario: want it by --dut",
				d.DUT))
		}
	}
	return nil
}

// devicePath returns the path of the field with the device in a server's slot.
func (s *Spec) devicePath(server int) field.Path {
	if n := len(s.Devices); n > 0 {
		return field.Path(fmt.Sprintf("devices[%d]", min(server, n-1)))
	}
	return s.cardPath(server) + ".device"
}

// validateRemotes checks the addresses of devices that run elsewhere. A device serves one session, so two slots may
// not name the same one.
func (s *Spec) validateRemotes(rack *board.RackSpec) error {
	var errs []error
	seen := map[string]bool{}
	for i := range rack.Servers {
		d, at := &rack.Servers[i].Cards[0].Device, s.devicePath(i)+".address"
		if d.Kind != board.DeviceAddress {
			continue
		}
		if err := rtlbridge.CheckAddress(d.Address); err != nil {
			errs = append(errs, field.Errorf(at, ": %w", err))
		} else if seen[d.Address] {
			errs = append(errs, field.Errorf(at, "%q: another server has this device, too, and a device serves one "+
				"session: want one for each", d.Address))
		}
		seen[d.Address] = true
	}
	return errors.Join(errs...)
}

// beside resolves a path in a scenario file: a relative one starts at the file's folder.
func (c *Case) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.File), path)
}

// address returns the address of a device. The path of a Unix socket is resolved by method beside.
func (c *Case) address(of string) string {
	const socket = "unix:"
	if path, ok := strings.CutPrefix(of, socket); ok {
		return socket + c.beside(path)
	}
	return of
}

// finder returns a Finder that resolves the case's devices relative to the folder of its file.
func (c *Case) finder(o *Options) *device.Finder {
	f := &device.Finder{Address: c.address}
	if o.Resolve != nil {
		f.DUT = func(name string) (string, error) {
			if !home.IsWord(name) {
				name = c.beside(name)
			}
			return o.Resolve(name)
		}
	}
	if o.Token != nil {
		f.Token = func(file string) (string, error) { return o.Token(c.beside(file)) }
	}
	return f
}

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
