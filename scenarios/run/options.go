package run

import (
	"cmp"
	"context"
	"io"

	"nictwin/models/board"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/shell/files"
)

// Options say on what cases are played, and where what they leave goes.
type Options struct {
	NIC     string         // device.Model or device.RTL, in every slot of the contract; empty: as the files have it
	DUT     string         // manifest of RTL devices that name none
	Variant string         // build of RTL devices
	Builds  *device.Builds // of RTL devices, shared by cases; nil: each case asks for its own
	Seed    uint64         // of workloads; 0: as the files have it
	Resolve func(dut string) (string, error)
	Token   func(file string) (string, error) // that a token file holds; nil: there are no devices of kind address

	Dir           *files.Folder // for artifacts of one case; nil: none are written
	ArtifactBytes int64         // of each file; 0: any number

	// Observe is shown the NICs before the referees are, which see what it has changed: how tests have devices go
	// wrong.
	Observe func(server int, nic board.NIC)

	// For those who measure: Unjudged has no referee watch, Traffic is told when the traffic begins and when it has
	// settled, Step each microsecond of it how many requests are under way.
	Unjudged bool
	Traffic  func(rack *board.Rack, settled bool)
	Step     func(underWay int)

	Wave *device.Wave // what RTL devices leave as waveforms; nil: nothing

	Progress func(done, total int) // messages; nil: nobody is told
	Log      io.Writer             // builds; nil is none
}

// device is what stands in slots that leave it open.
func (o *Options) device(ctx context.Context) device.Spec {
	return device.Spec{NIC: device.Model, DUT: o.DUT, Variant: cmp.Or(o.Variant, "speed"), Builds: o.Builds, Log: o.Log,
		Context: ctx, Wave: o.Wave}
}

// override puts the device that the options have into every slot of the contract.
func (o *Options) override(r board.RackSpec) board.RackSpec {
	for i := range r.Servers {
		if c := &r.Servers[i].Cards[0]; o.NIC != "" && contract(c) {
			c.Device.Kind, c.Device.Address, c.Device.TokenFile = board.DeviceKind(o.NIC), "", ""
			if o.NIC == device.Model {
				c.Device.DUT = ""
			}
		}
	}
	return r
}

// NeedsRTL reports whether the case has an RTL device that is built here.
func (c *Case) NeedsRTL(o *Options) bool {
	for _, v := range o.override(c.rack()).Servers {
		if v.Cards[0].Device.Kind == board.DeviceRTL {
			return true
		}
	}
	return false
}

// Judged reports whether the case has a NIC of the contract, with a referee.
func (c *Case) Judged() bool {
	r := c.rack()
	for i := range r.Servers {
		if contract(&r.Servers[i].Cards[0]) {
			return true
		}
	}
	return false
}
