package nicswitch

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/nicswitch/route"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/sim/simcore"
)

// Builder makes a Switch. The Switch takes new TLPs from the pool in field TLPs, and returns TLPs that it drops to that
// pool. If the field is nil, the Switch has a pool of its own.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	TLPs      *msg.TLPs
}

// Build makes the component, with one port for each in the spec, under the same names. It panics if
// Akita does not accept a name.
func (b Builder) Build(name string) (*Switch, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("nicswitch: %s has no scheduler", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	routes, err := route.NewTable(b.Spec.Routes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// This completer only makes completions with status UR, so limits and split policy do not matter.
	urCompleter, err := tlp.NewCompleter(b.Spec.ID, tlp.DefaultLimits(), tlp.CplLongest, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	q := b.Spec.Queue
	s := &Switch{
		ComponentBase: sim.NewComponentBase(name), spec: b.Spec, clock: simcore.NewClock(b.Scheduler), tlps: b.TLPs,
		routes: routes, urCompleter: urCompleter,
		bound: [3]int{tlp.Posted: q.Posted, tlp.NonPosted: q.NonPosted, tlp.Completion: q.Completion},
	}
	if s.tlps == nil {
		s.tlps = new(msg.TLPs)
	}
	for i := range b.Spec.Ports {
		s.addPort(i, name)
	}
	s.addChannels()
	for _, p := range s.ports {
		c := p.lane[inward]
		p.straight = !c.paced && len(c.ports) == 1
	}
	return s, nil
}

func (s *Switch) addPort(i int, name string) {
	spec, n := &s.spec.Ports[i], len(s.spec.Ports)
	p := &port{s: s, index: i, spec: spec, pairs: make([]order.Queue[*msg.TLP], n+1),
		out: make([][3]pcielink.Count, n+1)}
	p.port = simcore.NewPort(s, spec.Capacity, name+"."+spec.Name)
	s.AddPort(spec.Name, p.port)
	s.ports = append(s.ports, p)
}

// addChannels gives every port a channel in each direction. The NIC's ports share one if the NIC link is shared. Only
// channels of the NIC's ports can have a rate.
func (s *Switch) addChannels() {
	var shared [2]*channel
	for _, p := range s.ports {
		for dir := range 2 {
			if p.spec.NIC && s.spec.NICLink == Shared && shared[dir] != nil {
				shared[dir].ports = append(shared[dir].ports, p)
				p.lane[dir] = shared[dir]
				continue
			}
			c := &channel{s: s, dir: dir, ports: []*port{p}}
			c.timer = simcore.Event{H: s, Arg: c, Secondary: true}
			if p.spec.NIC && s.spec.NICRate != (simcore.Rate{}) {
				c.paced, c.wire = true, pcielink.NewWire(s.spec.NICRate)
				c.backlog = c.wire.TimeOf(s.spec.NICBuffer)
			}
			if p.spec.NIC && s.spec.NICLink == Shared {
				shared[dir] = c
			}
			p.lane[dir] = c
		}
	}
}
