package board

import (
	"errors"
	"slices"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/memmap"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/host/mmio"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// SwitchSpec configures a switch at the end of the NIC's PCIe link, and behind it a root over the
// memory of each endpoint, Arm and host. The card's Endpoint configures both roots except for their
// latency; they have the same Limits, because the NIC has one MPS.
type SwitchSpec struct {
	nicswitch.Spec `yaml:",inline"` // with the ports NIC, Arm and Host

	Arm  Downlink `yaml:"arm"`
	Host Downlink `yaml:"host"`

	// ArmOutbound lets the Arm's cores reach host memory by loads and stores, as read and write
	// requests of the Arm's root; nil: they reach only their own memory.
	ArmOutbound *root.OutboundSpec `yaml:"arm_outbound"`

	// HostMMIO configures the host cores' path to Arm memory: register writes and reads that
	// firmware on the card emulates, one at a time. nil: the host has no such path.
	HostMMIO *mmio.Spec `yaml:"host_mmio"`
}

// Downlink connects a root to the switch: by a PCIe link, or by the card's fabric, a link without PCIe's byte costs.
// Exactly one of the two is set.
type Downlink struct {
	PCIe        *pcielink.Spec    `yaml:"pcie"`
	Fabric      *simcore.LinkSpec `yaml:"fabric"`
	ReadLatency simcore.Ps        `yaml:"read_latency_ps"` // of the root: from a read's arrival to its first access

	// Limits holds MPS, MRRS and RCB of the root, for a NIC with limits by endpoint (an rnic); nil:
	// the card's endpoint.limits.
	Limits *tlp.Limits `yaml:"limits"`

	MemorySpec `yaml:",inline"` // behind the root

	Socket int `yaml:"socket"` // socket that the root is attached to, of the machine behind it
}

// SwitchPresetNames lists the names that SwitchPreset takes.
var SwitchPresetNames = nicswitch.PresetNames

// SwitchPreset returns the inside of a card, its memories and those of the server that the card was
// measured in. The Arm of BlueField-2 is connected to the switch without PCIe, and has no cache that
// devices write to (offpath.hw.soc_no_ddio).
//
// Latencies keep to the budget of docs/board.md; no paper splits them further (assumption). Host: PCIe with its root
// port 120 to 200 ns one way: 150 of the link and 20 of the root; memory 80 to 150 ns: 25 of the cache and 90 of the
// DRAM. Arm: fabric and DRAM read 120 to 250 ns: 50 of the link, 20 of the root, 30 of the cache and 90 of the DRAM.
func SwitchPreset(name string) (*SwitchSpec, error) {
	sw, err := nicswitch.Preset(name)
	if err != nil {
		return nil, err
	}
	const armLink, read = 50 * simcore.Nanosecond, 20 * simcore.Nanosecond
	s := &SwitchSpec{Spec: sw, Arm: Downlink{ReadLatency: read}, Host: Downlink{ReadLatency: read}}
	host, err := pcielink.Preset(name + "-host")
	if err != nil {
		return nil, err
	}
	s.Host.PCIe = &host
	if err := s.memories(name); err != nil {
		return nil, err
	}
	if name == "bf2" {
		s.Arm.Fabric = &simcore.LinkSpec{Latency: armLink, Rate: sw.NICRate, Credits: 256, CreditLatency: armLink}
		return s, nil
	}
	arm, err := pcielink.Preset(name + "-arm")
	if err != nil {
		return nil, err
	}
	arm.Latency, s.Arm.PCIe = armLink, &arm
	return s, nil
}

// memories sets the memory presets behind a card's switch: BlueField-3 has the host of its paper
// (host-fn), BlueField-2 its own (host-op).
func (s *SwitchSpec) memories(name string) (err error) {
	host := map[string]string{"bf2": "host-op", "bf3": "host-fn"}[name]
	if s.Arm.MemorySpec, err = memoryPreset(name, name != "bf2"); err != nil {
		return err
	}
	s.Host.MemorySpec, err = memoryPreset(host, true)
	return err
}

// memoryPreset returns the DRAM preset with the given name and, if cached is set, the cache preset
// in front of it.
func memoryPreset(name string, cached bool) (s MemorySpec, err error) {
	d, err := dram.Preset(name)
	if err != nil {
		return s, err
	}
	s.DRAM = &d
	if cached {
		c, err := armcache.Preset(name)
		if err != nil {
			return s, err
		}
		s.Cache = &c
	}
	return s, nil
}

// NICLinkSpec returns the NIC-side link of the presets. It has no rate, because the NIC's streams
// or the switch bound it. Its latency and the switch's add up to the paper's figure for both; it
// has enough credits to keep its round trip busy.
func NICLinkSpec() simcore.LinkSpec {
	return simcore.LinkSpec{Latency: nicswitch.LinkLatency, Credits: 1024, CreditLatency: nicswitch.LinkLatency}
}

// validate returns every error of the spec, each a field.Error.
func (s *SwitchSpec) validate(ep *Endpoint) error {
	errs := []error{s.Spec.Validate()}
	want, got := []string{nicswitch.PortNIC, nicswitch.PortArm, nicswitch.PortHost}, []string(nil)
	for i := range s.Ports {
		got = append(got, s.Ports[i].Name)
	}
	if !slices.Equal(got, want) {
		errs = append(errs, field.Errorf("ports", "%q: want the ports %q, in this order", got, want))
	}
	errs = append(errs, s.validateOutbound(), field.Under("arm", s.Arm.validateSocket(s.Arm.Host)))
	return errors.Join(append(errs, field.Under("arm", s.Arm.validate(ep, nicspec.EndpointArm)),
		field.Under("host", s.Host.validate(ep, nicspec.EndpointHost)))...)
}

// validate returns every error of the spec; endpoint is the one whose memory lies behind it.
func (d *Downlink) validate(ep *Endpoint, endpoint int) error {
	var errs []error
	limits, whose := ep.Limits, "roots (endpoint.limits.mps)"
	if d.Limits != nil {
		limits, whose = *d.Limits, "root (limits.mps)"
		errs = append(errs, field.Under("limits", limits.Validate()))
	}
	switch {
	case (d.PCIe == nil) == (d.Fabric == nil):
		errs = append(errs, field.Errorf("pcie", ": want either it or %v", field.Path("fabric")))
	case d.Fabric != nil:
		errs = append(errs, field.Under("fabric", d.Fabric.Validate()))
	default:
		errs = append(errs, field.Under("pcie", d.PCIe.Validate()))
		if mps := min(d.PCIe.Ends[0].MPS, d.PCIe.Ends[1].MPS); limits.MPS > mps {
			errs = append(errs,
				field.Against(field.Errorf("pcie.ends", ": MPS %d is less than the %d of the %s", mps, limits.MPS,
					whose), "limits", "limits.mps"))
		}
	}
	if d.ReadLatency < 0 || d.ReadLatency > simcore.Second {
		errs = append(errs, field.Errorf("read_latency_ps", "%d: want 0 to 1 s", d.ReadLatency))
	}
	return errors.Join(append(errs,
		d.MemorySpec.validate(endpoint,
			[...]uint64{nicspec.EndpointArm: ep.ArmBytes, nicspec.EndpointHost: ep.HostBytes}[endpoint]))...)
}

// limits returns MPS, MRRS and RCB of the root.
func (d *Downlink) limits(ep *Endpoint) tlp.Limits {
	if d.Limits != nil {
		return *d.Limits
	}
	return ep.Limits
}

// build assembles the switch and everything behind it, and returns the switch's port for the NIC.
func (s *SwitchSpec) build(e *simcore.Engine, p *Pools, c *Card, card *CardSpec) (port *simcore.Port, err error) {
	ep := &card.Endpoint
	c.Switch, err = nicswitch.Builder{Scheduler: e, Spec: s.inner(card), TLPs: &p.TLPs}.Build(c.Name + ".Switch")
	if err != nil {
		return nil, err
	}
	var far *lateTarget
	if s.ArmOutbound != nil {
		far = new(lateTarget)
	}
	if c.Root, c.ArmLink, err = s.Arm.build(e, p, c, ep,
		side{"Arm", nicswitch.PortArm, nicspec.EndpointArm, card.requesters(nicspec.RequesterArm, requesterArmSecond),
			far.region(c.Memory)}); err != nil {
		return nil, err
	}
	if c.Host, c.HostLink, err = s.Host.build(e, p, c, ep,
		side{"Host", nicswitch.PortHost, nicspec.EndpointHost,
			card.requesters(nicspec.RequesterHost, requesterHostSecond), nil}); err != nil {
		return nil, err
	}
	if err := s.buildOutbound(e, c, ep, far); err != nil {
		return nil, err
	}
	return c.Switch.Port(nicswitch.PortNIC), nil
}

// side names one of the two endpoints behind the switch.
type side struct {
	name, port string
	endpoint   int
	requesters []uint16
	far        []memmap.Region // memories of the other side that the cores of this side reach
}

// build makes the root of one endpoint with its memory, and the link to the switch.
func (d *Downlink) build(e *simcore.Engine, p *Pools, c *Card, ep *Endpoint, s side) (r *root.Root, l *pcielink.Link,
	err error) {
	if err = c.buildMemory(e, s.name, s.endpoint, d, s.far...); err != nil {
		return nil, nil, err
	}
	b := root.Builder{Memory: c.Memory.rootMemory(s.endpoint), Spec: ep.Spec, Requesters: s.requesters,
		Invalidates: c.Memory.caches(s.endpoint)}
	b.Spec.Latency, b.Spec.Limits = d.ReadLatency, d.limits(ep)
	if r, err = ep.root(e, p, c.Name, s.name, b); err != nil {
		return nil, nil, err
	}
	name, port := c.Name+"."+s.name+"Link", c.Switch.Port(s.port)
	if d.Fabric != nil {
		_, err = simcore.Connect(name, e, *d.Fabric, port, r.PCIe())
		return r, nil, err
	}
	if l, err = (pcielink.Builder{Scheduler: e, Spec: *d.PCIe}).Build(name); err != nil {
		return nil, nil, err
	}
	return r, l, l.Connect(port, r.PCIe())
}
