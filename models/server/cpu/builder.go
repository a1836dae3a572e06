package cpu

import (
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Watcher is a memory that reports writes when they take effect, such as a mem.Space or an
// armcache.Cache.
type Watcher interface {
	Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
}

// Builder makes a Core.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target   // target of loads and stores, such as the core's private cache
	View      mem.Backdoor // bytes that a load would return at this moment; nil: Memory, if it is a mem.Backdoor
	Watcher   Watcher      // reports writes to the memory behind View; nil: Memory, if it is a Watcher
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Core, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("cpu: %s has no scheduler", name)
	}
	if b.Memory == nil {
		return nil, fmt.Errorf("cpu: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Core{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory, view: b.View,
		watcher: b.Watcher}
	if c.view == nil {
		c.view, _ = b.Memory.(mem.Backdoor)
	}
	if c.view == nil {
		return nil, fmt.Errorf("cpu: %s has no view of its memory: want Builder.View, or a memory that is a "+
			"mem.Backdoor", name)
	}
	if c.watcher == nil {
		c.watcher, _ = b.Memory.(Watcher)
	}
	c.alarm = simcore.NewAlarm(b.Scheduler, c, true)
	c.regDone, c.since = c.readDone, never
	c.granted = func() { c.readDone(0, nil) }
	return c, nil
}
