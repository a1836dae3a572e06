package board

import (
	"errors"
	"fmt"

	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Endpoint configures what lies behind the NIC's PCIe link: a root complex over the memories of
// both endpoints, and the decorators around it.
type Endpoint struct {
	root.Spec `yaml:",inline"`
	ArmBytes  uint64 `yaml:"arm_bytes"`  // size of Arm memory, from offset 0
	HostBytes uint64 `yaml:"host_bytes"` // size of host memory, from offset 0
	// delay in front of the memories, seeded by the root's seed; the zero value adds none
	Delay inject.DelaySpec `yaml:"delay"`

	Faults bool `yaml:"faults"` // insert Card.Faults
	Gate   bool `yaml:"gate"`   // insert Card.Gate
}

// DefaultEndpoint returns 1 GB of Arm and 1 GB of host memory behind a default root, without
// decorators. Data is fetched when its completion is about to be sent, so that completions of a
// read arrive with gaps if the memories have a delay.
func DefaultEndpoint() Endpoint {
	e := Endpoint{Spec: root.DefaultSpec(), ArmBytes: 1 << 30, HostBytes: 1 << 30}
	e.Ahead = 1
	return e
}

// EndpointFor returns the default endpoint; if streams stall, its reads also return shuffled and
// split at random.
func EndpointFor(seed uint64, stall int) Endpoint {
	e := DefaultEndpoint()
	e.Shake(seed, stall)
	return e
}

// Shake sets the seed and, if streams stall, makes reads return shuffled and split at random.
func (e *Endpoint) Shake(seed uint64, stall int) {
	e.Seed = seed
	if stall > 0 {
		e.Split, e.Delay.Jitter = tlp.CplRandom, 200*simcore.Nanosecond
	}
}

// Validate returns every error of the spec, each a field.Error.
func (e *Endpoint) Validate() error {
	errs := []error{e.Spec.Validate(), field.Under("delay", e.Delay.Validate())}
	for _, m := range [...]struct {
		path  field.Path
		bytes uint64
	}{{"arm_bytes", e.ArmBytes}, {"host_bytes", e.HostBytes}} {
		if m.bytes == 0 || m.bytes > mem.MaxBytes {
			errs = append(errs, field.Errorf(m.path, "%d: want 1 to %d", m.bytes, uint64(mem.MaxBytes)))
		}
	}
	return errors.Join(errs...)
}

// build assembles the endpoint behind the NIC's PCIe link, and returns the port at which the link
// ends.
func (s *CardSpec) build(e *simcore.Engine, p *Pools, c *Card) (port *simcore.Port, err error) {
	space, err := mem.NewSpace(s.Endpoint.ArmBytes, s.Endpoint.HostBytes)
	if err != nil {
		return nil, err
	}
	c.Memory = newMemory(space)
	if s.Switch != nil {
		port, err = s.Switch.build(e, p, c, s)
	} else if s.Direct != nil {
		port, err = s.Direct.buildDirect(e, p, c, &s.Endpoint)
	} else {
		c.Root, err = s.Endpoint.root(e, p, c.Name, "", root.Builder{Memory: space, Spec: s.Endpoint.Spec})
		if err == nil {
			c.Host, port = c.Root, c.Root.PCIe()
		}
	}
	if err != nil {
		return nil, err
	}
	return s.Endpoint.decorate(e, p, c, port)
}

// root makes a root over a memory, with the endpoint's delay in front of the memory.
func (s *Endpoint) root(e *simcore.Engine, p *Pools, card, side string, b root.Builder) (r *root.Root, err error) {
	if d := s.Delay; d.Latency > 0 || d.Jitter > 0 {
		d.Seed = s.Seed
		if b.Memory, err = inject.NewDelay(card+"."+side+"Delay", e, d, b.Memory); err != nil {
			return nil, err
		}
	}
	b.Scheduler, b.TLPs = e, &p.TLPs
	return b.Build(card + "." + side + "Root")
}

// decorate inserts the decorators of the spec in front of a port, and returns the port to be
// connected in its place.
func (s *Endpoint) decorate(e *simcore.Engine, p *Pools, c *Card, port *simcore.Port) (_ *simcore.Port, err error) {
	if s.Faults {
		c.Faults = inject.NewFaults(c.Name+".Faults", e, &p.TLPs)
		if port, err = insert(e, c.Faults, port); err != nil {
			return nil, err
		}
	}
	if s.Gate {
		c.Gate = inject.NewGate(c.Name+".Gate", e)
		port, err = insert(e, c.Gate, port)
	}
	return port, err
}

// decorator is a component inserted into a link.
type decorator interface {
	Name() string
	Device() *simcore.Port
	Peer() *simcore.Port
}

// insert connects a decorator to a port, and returns the decorator's port to be connected in its
// place.
func insert(e *simcore.Engine, d decorator, before *simcore.Port) (*simcore.Port, error) {
	if _, err := simcore.Connect(d.Name()+"Link", e, simcore.LinkSpec{}, before, d.Peer()); err != nil {
		return nil, fmt.Errorf("inserting %s: %w", d.Name(), err)
	}
	return d.Device(), nil
}
