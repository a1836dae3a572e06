package nic

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
	"nictwin/models/nic/stream"
	"nictwin/models/sim/simcore"
)

// Builder makes a NIC. Frames and TLPs are the pools that its messages come from and return to; a
// board that shares them among its components recycles every message. If a pool is nil, the NIC
// uses one of its own. Stalls decides when the NIC's streams stall; nil means never.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Stalls    boundary.Stalls
	Frames    *msg.Frames
	TLPs      *msg.TLPs
}

// Capacities of the ports, in messages. The NIC takes frames from its ports as they arrive, TLPs at
// one beat a cycle.
const (
	ethPortCap  = 64
	pciePortCap = 64
)

// Build makes the component. Its ports are PCIe and Eth[p]. It panics if Akita does not accept the
// name.
func (b Builder) Build(name string) (*Comp, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("nic: %s has no scheduler", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Comp{
		ComponentBase: sim.NewComponentBase(name),
		spec:          b.Spec, sched: b.Scheduler, period: b.Spec.Freq.Period(),
		regs: core.NewRegs(b.Spec.Build), reader: core.NewReader(b.Spec.Timing.Tags),
		frames: b.Frames, tlps: b.TLPs, last: -1, latest: -1,
	}
	if c.frames == nil {
		c.frames = new(msg.Frames)
	}
	if c.tlps == nil {
		c.tlps = new(msg.TLPs)
	}
	c.limits, c.timeout = c.regs.Limits(), c.regs.CplTimeout()
	c.limitsTx = core.LimitsOf(&c.spec.Build)
	c.pcie = simcore.NewPort(c, pciePortCap, name+".PCIe")
	c.AddPort("PCIe", c.pcie)
	for p := range b.Spec.Ports {
		short := fmt.Sprintf("Eth[%d]", p)
		port := simcore.NewPort(c, ethPortCap, name+"."+short)
		c.AddPort(short, port)
		c.eth = append(c.eth, port)
	}
	c.rx.init(&c.spec)
	c.tx.init(&c.spec)
	c.msix.init(&c.spec)
	c.out.Stall = stream.StallOf(b.Stalls, StreamTLPOut)
	c.in.Stall = stream.StallOf(b.Stalls, StreamTLPIn)
	for p := range c.tx.ports {
		c.rx.ports[p].Stall = stream.StallOf(b.Stalls, fmt.Sprintf("%s[%d]", StreamEthIn, p))
		c.tx.ports[p].Stall = stream.StallOf(b.Stalls, fmt.Sprintf("%s[%d]", StreamEthOut, p))
	}
	return c, nil
}

func (r *rxPath) init(s *Spec) {
	r.ports = make([]rxPort, s.Ports)
	r.queues = make([]rxQueue, s.NumRxq)
	for i := range r.queues {
		r.queues[i].win = ring.NewWindow(nicspec.RxDescBytes, s.Timing.RxPrefetch, false)
	}
}

func (t *txPath) init(s *Spec) {
	t.ports = make([]ethOut, s.Ports)
	t.queues = make([]txQueue, s.NumTxq)
	for i := range t.queues {
		t.queues[i].win = ring.NewWindow(nicspec.WqeBytes, s.Timing.TxPrefetch, s.Has(nicspec.PartLong))
		t.queues[i].head, t.queues[i].tail, t.queues[i].emit = none, none, none
	}
	t.initLanes(s)
	t.initCopies(s)
}

// Names of the streams in boundary.Stalls. That of a frame stream is followed by its port, as in
// eth_out[0].
const (
	StreamTLPOut = "tlp_out"
	StreamTLPIn  = "tlp_in"
	StreamEthOut = "eth_out"
	StreamEthIn  = "eth_in"
)
