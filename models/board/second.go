package board

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/root"
	"nictwin/models/format/msg"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// SecondSpec configures a second device on a card: an RDMA NIC (package rnic) at a port of its own of the card's
// switch, by a link like the NIC's. It has no Ethernet ports, so its queue pairs reach only each other (loopback), over
// Arm and host memory.
type SecondSpec struct {
	Device DeviceSpec `yaml:"device"`
	Ports  string     `yaml:"ports"` // Ethernet ports: NoPorts, also if empty
}

// NoPorts is the only value of SecondSpec.Ports.
const NoPorts = "none"

// Bus address of a second device's registers, behind those of the contract NIC [P1], and its
// requester and completer ID: a bus number that no other device of a card has.
const (
	SecondBar = nicspec.BarBase + nicspec.BarBytes
	SecondID  = 0x400
)

// Requester IDs of the roots' accesses to the registers of a second device, above those that the
// cores' accesses to memory have.
const (
	requesterArmSecond  = nicspec.RequesterArm + 2
	requesterHostSecond = nicspec.RequesterHost + 2
)

// portSecond is the name of the second device's port of the switch.
const portSecond = "Second"

// validateSecond returns every error of the spec.
func (s *CardSpec) validateSecond() error {
	x := s.Second
	if x == nil {
		return nil
	}
	var errs []error
	switch {
	case x.Device.Kind != DeviceRNIC:
		errs = append(errs, field.Errorf("second.device.kind", "%q: want %s: the contract gives its NIC one place on "+
			"the bus, which the first device has", x.Device.Kind, DeviceRNIC))
	default:
		errs = append(errs, field.Under("second.device", x.Device.Validate()))
	}
	if x.Ports != "" && x.Ports != NoPorts {
		errs = append(errs, field.Errorf("second.ports", "%q: want %s: a second device has only loopback", x.Ports,
			NoPorts))
	}
	if s.Switch == nil {
		return errors.Join(append(errs, field.Errorf("second", ": want none, or a card with a PCIe switch (%v) for it",
			field.Path("switch")))...)
	}
	sw := s.Switch.inner(s)
	if s.Switch.Spec.Validate() == nil { // else its errors are reported already
		errs = append(errs, field.Against(field.Under("switch", sw.Validate()), "second"))
	}
	return errors.Join(errs...)
}

// inner returns the spec of the PCIe switch, with a port for the second device if the card has one.
func (s *SwitchSpec) inner(c *CardSpec) nicswitch.Spec {
	sw := s.Spec
	if c.Second == nil {
		return sw
	}
	const functions, capacity = 0xff, 1024 // functions of a bus number; TLPs that the port holds, as in the preset
	sw.Ports = append(slices.Clone(sw.Ports), nicswitch.PortSpec{Name: portSecond, NIC: true, Capacity: capacity,
		Port: route.Port{
			Memory: []route.Range{{From: SecondBar, Bytes: nicspec.BarBytes}},
			IDs:    []route.IDRange{{From: SecondID, To: SecondID + functions}},
		}})
	return sw
}

// requesters returns the IDs with which a root accesses registers: of the NIC, and of the second
// device if the card has one.
func (s *CardSpec) requesters(nic, second uint16) []uint16 {
	if s.Second == nil {
		return []uint16{nic}
	}
	return []uint16{nic, second}
}

// addSecond puts the second device into its slot, and connects it to the switch.
func (s *CardSpec) addSecond(e *simcore.Engine, p *Pools, c *Card, factory Factory) (err error) {
	slot := Slot{
		Name: s.Name + ".Second", Device: s.Second.Device, Engine: e, Ports: 1, PCIe: s.PCIe, Limits: s.limits(),
		Bar: SecondBar, ID: SecondID, Seed: s.Seed, Frames: &p.Frames, TLPs: &p.TLPs,
	}
	if c.Second, err = factory(slot); err != nil {
		return err
	}
	if c.SecondLink, err = simcore.Connect(slot.Name+".PCIeLink", e, s.PCIe, c.Switch.Port(portSecond),
		c.Second.PCIe()); err != nil {
		return err
	}
	d := newDarkPort(slot.Name+".Dark", &p.Frames)
	_, err = simcore.Connect(slot.Name+".DarkLink", e, simcore.LinkSpec{}, c.Second.Eth(0), d.port)
	return err
}

// SecondMMIO returns the access to the second device's registers through the root of an endpoint;
// nil: the card has none.
func (c *Card) SecondMMIO(endpoint int) *root.MMIO {
	switch {
	case c.Second == nil:
		return nil
	case endpoint == nicspec.EndpointHost:
		return c.Host.MMIOAt(requesterHostSecond, SecondBar)
	default:
		return c.Root.MMIOAt(requesterArmSecond, SecondBar)
	}
}

// Begin begins the devices of the card (NIC.Begin).
func (c *Card) Begin(done func() bool) error {
	err := c.NIC.Begin(done)
	if c.Second != nil && err == nil {
		err = c.Second.Begin(done)
	}
	return err
}

// secondIdle reports whether the second device has nothing to do, as far as it can tell.
func (c *Card) secondIdle() bool {
	x, ok := c.Second.(interface{ Idle() bool })
	return !ok || x.Idle()
}

// darkPort is the far end of a port without a cable: it loses the frames that leave there.
type darkPort struct {
	*sim.ComponentBase
	port   *simcore.Port
	frames *msg.Frames
}

func newDarkPort(name string, frames *msg.Frames) *darkPort {
	d := &darkPort{ComponentBase: sim.NewComponentBase(name), frames: frames}
	const room = 64
	d.port = simcore.NewPort(d, room, name+".Port")
	d.AddPort("Port", d.port)
	return d
}

// NotifyRecv implements sim.Component.
func (d *darkPort) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for m := d.port.Retrieve(now); m != nil; m = d.port.Retrieve(now) {
		if f, ok := m.(*msg.Frame); ok {
			d.frames.Put(f)
		}
	}
}

// NotifyPortFree implements sim.Component.
func (d *darkPort) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

// Handle implements sim.Handler. A dark port has no events.
func (d *darkPort) Handle(sim.Event) error { return fmt.Errorf("board: %s has no events", d.Name()) }

var _ sim.Component = (*darkPort)(nil)
