package rnic

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// Builder makes a NIC. Frames and TLPs are its message pools; nil makes a pool of its own. Bar is the
// bus address of its registers, ID its requester and completer ID; both 0: those of the contract
// NIC [P1].
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Frames    *msg.Frames
	TLPs      *msg.TLPs

	Bar uint64
	ID  uint16
}

// Capacities of the ports, in messages. Frames wait in the Ethernet ports while the receive buffer
// is full.
const (
	ethPortCap  = 64
	pciePortCap = 64
)

var errRefused = errors.New("rnic: a port refused a message that it had room for")

// Build makes the component. Its ports are PCIe and Eth[p]. It panics if Akita does not accept the
// name.
func (b Builder) Build(name string) (*Comp, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("rnic: %s has no scheduler", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	id, bar := cmp.Or(b.ID, nicspec.RequesterNic), cmp.Or(b.Bar, nicspec.BarBase)
	completer, err := tlp.NewCompleter(id, tlp.Limits{MPS: 128, MRRS: 128, RCB: tlp.EndpointRCB},
		tlp.CplLongest, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &b.Spec
	c := &Comp{
		ComponentBase: sim.NewComponentBase(name), id: id, bar: bar, spec: b.Spec,
		sched: b.Scheduler, period: s.Freq.Period(),
		frames: b.Frames, tlps: b.TLPs, dev: core.NewDevice(), completer: completer, idleFrom: 0,
		qps: make([]*qpair, rnicspec.MaxQPs), cqs: map[uint32]*cq{}, handles: map[uint32]*core.Address{},
		srqs:    map[uint32]*sharedQueue{},
		qpCache: newCache(s.Caches.QPs), pageCache: newCache(s.Caches.Pages),
	}
	if c.frames == nil {
		c.frames = new(msg.Frames)
	}
	if c.tlps == nil {
		c.tlps = new(msg.TLPs)
	}
	c.readReg = c.readRegister
	c.dma.init(s.Tags)
	c.contexts.most, c.contexts.reserve = s.Contexts.Endpoint, s.Contexts.Reserve
	c.table.free = s.Table
	c.pcie = simcore.NewPort(c, pciePortCap, name+".PCIe")
	c.AddPort("PCIe", c.pcie)
	c.ports = make([]ethPort, s.Ports)
	for p := range s.Ports {
		short := fmt.Sprintf("Eth[%d]", p)
		c.ports[p].port = simcore.NewPort(c, ethPortCap, name+"."+short)
		c.AddPort(short, c.ports[p].port)
	}
	return c, nil
}
