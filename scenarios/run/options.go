package run

import (
	"cmp"
	"context"
	"io"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/emulation"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/shell/files"
)

// Options selects the devices of a case and the folder for its artifacts.
type Options struct {
	NIC     string          // device.Model or device.RTL for every slot but an rnic's; empty: as the scenario says
	DUT     string          // manifest of the RTL devices for which the scenario names no manifest
	Variant string          // build variant of RTL devices
	Link    *emulation.Link // way to RTL devices that are started here; nil: they are simulated without a shell
	Builds  *device.Builds  // builds of RTL devices, shared by cases; nil: not shared
	Seed    uint64          // seed of the workloads; 0: as the scenario says
	Resolve func(dut string) (string, error)
	Token   func(file string) (string, error) // reads a token file; nil if no device is of kind address

	Dir           *files.Folder // folder for the artifacts of this case; nil: no artifacts
	ArtifactBytes int64         // limit of each file; 0: no limit

	// Observe receives each NIC before its referee is attached. Tests use it to alter crossings, so that the referee
	// sees a bug.
	Observe func(server int, nic board.NIC)

	// These are for measurements. Unjudged leaves out the referees. Traffic is called when the traffic begins and when
	// it has settled; Step is called in each microsecond of it, with the number of requests in flight.
	Unjudged bool
	Traffic  func(rack *board.Rack, settled bool)
	Step     func(underWay int)

	Stats   StatsLevel // statistics; empty: none
	Samples int        // most samples of a series; 0: probe.Samples

	Wave *device.Wave // waveforms that the RTL devices dump; nil: none

	// Patience is the longest time without progress; 0: the case's limits, which Played.Patience has.
	Patience simcore.Ps

	Progress func(done, total int) // counts messages; nil: none
	Beat     *heartbeat.Beat       // receives the status of the case; nil: none
	During   string                // beginning of that status, such as what the case is played for
	Log      io.Writer             // progress of builds; nil: none
}

// device returns the device for slots whose device the scenario leaves open.
func (o *Options) device(ctx context.Context) device.Spec {
	return device.Spec{NIC: device.Model, DUT: o.DUT, Variant: cmp.Or(o.Variant, "speed"), Builds: o.Builds, Log: o.Log,
		Context: ctx, Wave: o.Wave, Link: o.Link}
}

// override puts the device that the options select into every slot, except slots of an rnic.
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

// NeedsRTL reports whether the case has an RTL device that is built locally.
func (c *Case) NeedsRTL(o *Options) bool {
	for _, v := range o.override(c.rack()).Servers {
		if v.Cards[0].Device.Kind == board.DeviceRTL {
			return true
		}
	}
	return false
}

// Judged reports whether any NIC of the case follows docs/nic.md and so has a referee.
func (c *Case) Judged() bool {
	r := c.rack()
	for i := range r.Servers {
		if contract(&r.Servers[i].Cards[0]) {
			return true
		}
	}
	return false
}
