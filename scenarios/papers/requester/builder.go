package requester

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
)

// Builder makes a Requester.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	TLPs      *msg.TLPs
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Requester, error) {
	if b.Scheduler == nil || b.TLPs == nil {
		return nil, fmt.Errorf("requester: %s has no scheduler or no pool of TLPs", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("requester: %s: %w", name, err)
	}
	r := &Requester{
		ComponentBase: sim.NewComponentBase(name), spec: b.Spec, sched: b.Scheduler, tlps: b.TLPs,
		period: simcore.DefaultPeriodPs,
	}
	r.port = simcore.NewPort(r, b.Spec.Ports, name+".PCIe")
	r.AddPort("PCIe", r.port)
	for i := range b.Spec.Tags {
		r.free.Push(uint8(i))
	}
	if b.Spec.Network != (Network{}) {
		r.in, r.off = pcielink.NewWire(b.Spec.Rate), pcielink.NewWire(b.Spec.Rate)
	}
	return r, nil
}

// Factory returns a factory for a board's slot; it stores the requester that it makes in *got.
func Factory(s Spec, got **Requester) board.Factory {
	return func(slot board.Slot) (board.NIC, error) {
		r, err := Builder{Scheduler: slot.Engine, Spec: s, TLPs: slot.TLPs}.Build(slot.Name)
		if err != nil {
			return nil, err
		}
		*got = r
		return r, nil
	}
}
