package board

import (
	"errors"

	"nictwin/models/fabric/pcielink"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// validateDirect returns every error of a plain NIC, which sits in a PCIe slot of the host, each a
// field.Error.
func (s *CardSpec) validateDirect() error {
	errs := []error{againstEndpoint(field.Under("direct", s.Direct.validate(&s.Endpoint, nicspec.EndpointHost)))}
	if s.Switch != nil {
		errs = append(errs, field.Errorf("direct", ": want either it or %v", field.Path("switch")))
	}
	// A NIC of the contract sends a TLP some cycles after the link had room for it, and relies on that room.
	if k := s.Device.Kind; s.Direct.PCIe != nil && k != DeviceRNIC && s.Device.Validate() == nil {
		errs = append(errs, field.Errorf("direct.pcie", ": a NIC of kind %q cannot be at the end of a link with "+
			"credits by class: want %v in its place, or a device of kind %s", k, field.Path("direct.fabric"),
			DeviceRNIC))
	}
	return errors.Join(errs...)
}

// buildDirect makes the host's root with its memory, and returns the root's port for the NIC's
// link.
func (d *Downlink) buildDirect(e *simcore.Engine, p *Pools, c *Card, ep *Endpoint) (port *simcore.Port, err error) {
	if err = c.buildMemory(e, "Host", nicspec.EndpointHost, d); err != nil {
		return nil, err
	}
	b := root.Builder{Memory: c.Memory.rootMemory(nicspec.EndpointHost), Spec: ep.Spec}
	b.Spec.Latency, b.Spec.Limits = d.ReadLatency, d.limits(ep)
	if c.Root, err = ep.root(e, p, c.Name, "Host", b); err != nil {
		return nil, err
	}
	c.Host = c.Root
	return c.Root.PCIe(), nil
}

// plug connects the NIC's PCIe port to the port of the switch, root or decorator at the other end.
func (s *CardSpec) plug(e *simcore.Engine, c *Card, port *simcore.Port) (err error) {
	name := s.Name + ".PCIeLink"
	if s.Direct == nil || s.Direct.PCIe == nil {
		c.NICLink, err = simcore.Connect(name, e, s.pcie(), port, c.NIC.PCIe())
		return err
	}
	if c.HostLink, err = (pcielink.Builder{Scheduler: e, Spec: *s.Direct.PCIe}).Build(name); err != nil {
		return err
	}
	return c.HostLink.Connect(port, c.NIC.PCIe())
}

// pcie returns the spec of the link at the NIC's PCIe port, for the NIC's slot.
func (s *CardSpec) pcie() simcore.LinkSpec {
	switch d := s.Direct; {
	case d == nil:
		return s.PCIe
	case d.Fabric != nil:
		return *d.Fabric
	default:
		return simcore.LinkSpec{Latency: d.PCIe.Latency, CreditLatency: d.PCIe.Latency, Rate: d.PCIe.Rate()}
	}
}

// DirectPreset returns the downlink of a plain NIC in a server: bandwidth by PCIe generation, MPS
// of the host, and the memory preset of the given name. Without a name, memory answers at once.
//
// Sources: MPS 512, bf2.mtu_host; the time that a read takes in the root as in SwitchPreset.
func DirectPreset(generation int, memory string) (*Downlink, error) {
	const mps, read = 512, 20 * simcore.Nanosecond
	link := pcielink.Default(generation)
	link.Ends[1] = tlp.Limits{MPS: mps, MRRS: mps, RCB: 64}
	d := &Downlink{PCIe: &link, ReadLatency: read}
	var err error
	if memory != "" {
		d.MemorySpec, err = memoryPreset(memory, true)
	}
	return d, err
}

// limits returns MPS, MRRS and RCB of the roots behind the NIC, by endpoint.
func (s *CardSpec) limits() (l [nicspec.EndpointHost + 1]tlp.Limits) {
	for ep := range l {
		l[ep] = s.Endpoint.Limits
	}
	switch {
	case s.Switch != nil:
		l[nicspec.EndpointArm], l[nicspec.EndpointHost] = s.Switch.Arm.limits(&s.Endpoint),
			s.Switch.Host.limits(&s.Endpoint)
	case s.Direct != nil:
		l[nicspec.EndpointHost] = s.Direct.limits(&s.Endpoint)
	}
	return l
}
