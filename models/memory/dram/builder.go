package dram

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Builder makes a DRAM. Memory holds the bytes.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*DRAM, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("dram: %s has no scheduler", name)
	}
	if b.Memory == nil {
		return nil, fmt.Errorf("dram: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &DRAM{ComponentBase: sim.NewComponentBase(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory}
	d.backdoor, _ = b.Memory.(mem.Backdoor)
	for range b.Spec.Channels {
		d.channels = append(d.channels, newChannel(b.Spec, &d.counts))
	}
	return d, nil
}
