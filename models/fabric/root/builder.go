package root

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Builder makes a Root. Memory serves the NIC's reads and writes, by bus address. TLPs is the packet pool; nil
// makes the root's own. Requesters lists the IDs whose register accesses go through this root, where there are
// several roots: completions for other IDs are routed to the other roots. Nil allows any ID. Invalidates makes
// the root drop the cache lines that the NIC's invalidate messages name [D4]: set it for memory with a cache in
// front.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target
	TLPs      *msg.TLPs

	Requesters  []uint16
	Invalidates bool
}

const portCap = 1024

// Build makes the component; its port is PCIe. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Root, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("root: %s has no scheduler", name)
	}
	if b.Memory == nil {
		return nil, fmt.Errorf("root: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &Root{
		ComponentBase: sim.NewComponentBase(name), spec: b.Spec, sched: b.Scheduler, tlps: b.TLPs, memory: b.Memory,
		requesters: b.Requesters, invalidates: b.Invalidates,
	}
	r.alarm = simcore.NewAlarm(b.Scheduler, r, false)
	if r.tlps == nil {
		r.tlps = new(msg.TLPs)
	}
	for ep, id := range [...]uint16{nicspec.RequesterArm, nicspec.RequesterHost} {
		c, err := tlp.NewCompleter(id, b.Spec.Limits, b.Spec.Split, b.Spec.Seed+uint64(ep))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.completers[ep] = c
	}
	if h, ok := b.Memory.(mem.Holder); ok {
		r.holder = h
		h.OnRoom(r.receive)
	}
	r.port = simcore.NewPort(r, portCap, name+".PCIe")
	r.AddPort("PCIe", r.port)
	return r, nil
}
