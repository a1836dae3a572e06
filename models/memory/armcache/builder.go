package armcache

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Builder makes a Cache in front of Memory.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target

	// Backdoor gives immediate access to the bytes behind Memory, excluding writes still on their
	// way; nil: Memory itself, if it is a mem.Backdoor.
	Backdoor mem.Backdoor
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Cache, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("armcache: %s has no scheduler", name)
	}
	if b.Memory == nil {
		return nil, fmt.Errorf("armcache: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lines, err := core.New(b.Spec.Geometry)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Cache{
		ComponentBase: sim.NewComponentBase(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory, lines: lines,
	}
	if c.backdoor = b.Backdoor; c.backdoor == nil {
		c.backdoor, _ = b.Memory.(mem.Backdoor)
	}
	c.wake.H, c.wake.Secondary = c, true
	for range b.Spec.Fetches {
		c.idleFetches = append(c.idleFetches, c.newFetch())
	}
	for range b.Spec.WriteBacks {
		c.idleWriteBacks = append(c.idleWriteBacks, c.newSent(make([]byte, lineBytes)))
	}
	return c, nil
}
