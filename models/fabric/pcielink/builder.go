package pcielink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
)

// Builder makes a Link.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
}

// Build makes a link without ports. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Link, error) {
	sim.NameMustBeValid(name)
	if b.Scheduler == nil {
		return nil, fmt.Errorf("pcielink: %s has no scheduler", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Link{name: name, clock: simcore.NewClock(b.Scheduler), spec: b.Spec}, nil
}

// Connect connects both ends: end 0 faces the switch or the root.
func (l *Link) Connect(zero, one sim.Port) error {
	for i, p := range [...]sim.Port{zero, one} {
		if err := l.fits(p); err != nil {
			return fmt.Errorf("pcielink: %s: end %d: %w", l.name, i, err)
		}
	}
	if zero == one {
		return fmt.Errorf("pcielink: %s: both ends are port %s", l.name, zero.Name())
	}
	l.PlugIn(zero, 0)
	l.PlugIn(one, 0)
	return nil
}

// fits checks that a port can be an end of a PCIe link.
func (l *Link) fits(port sim.Port) error {
	p, ok := port.(*simcore.Port)
	switch {
	case !ok:
		return fmt.Errorf("port is a %T: want a *simcore.Port", port)
	case p.Connection() != nil:
		return fmt.Errorf("port %s is plugged in already", p.Name())
	}
	type ahead interface{ LookAhead() bool }
	if c, ok := p.Component().(ahead); ok && c.LookAhead() {
		return fmt.Errorf("port %s belongs to %s, which runs ahead of the engine: it needs a simcore.Link, and a "+
			"switch behind that",
			p.Name(), p.Component().Name())
	}
	return nil
}
