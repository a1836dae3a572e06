package cpu

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// LoopSpec describes a loop.
type LoopSpec struct {
	Name string `yaml:"name"`
	Poll int64  `yaml:"poll_cycles"` // of a step that finds nothing and whose loads hit; no step is shorter

	As Activity `yaml:"-"` // what the time of a step counts as, until the step calls ComputeAs
}

// Validate returns every error of the spec.
func (s LoopSpec) Validate() error {
	if s.Poll < 1 || s.Poll > 1<<40 {
		return field.Errorf("poll_cycles", "%d: want 1 to 2^40", s.Poll)
	}
	return nil
}

// Loop is software whose step function a core calls again and again.
type Loop struct {
	core *Core
	name string
	poll simcore.Ps
	as   Activity
	step func(*Core) bool

	place   int
	ready   bool       // the last step found work: step again without waiting for a write
	wrote   simcore.Ps // time of the first write to a watched range since the last step; never: none
	timer   simcore.Ps // time at which the loop is stepped even if no write wakes it; never: no such time
	awake   bool       // the loop is in round.awake: ready, wrote or timer is set
	stopped bool
	stops   []func()
}

// Add appends a loop to the core's polling order. step does the loop's work and reports whether it
// found any. If not, the loop sleeps until a range that it watches is written to, or until its
// timer expires.
func (c *Core) Add(s LoopSpec, step func(*Core) bool) (*Loop, error) {
	errs := []error{s.Validate()}
	if step == nil {
		errs = append(errs, errors.New("it has no step"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cpu: %s: loop %s: %w", c.Name(), s.Name, err)
	}
	l := &Loop{core: c, name: s.Name, poll: simcore.Ps(s.Poll) * c.spec.Period, step: step, as: s.As, ready: true,
		wrote: never, timer: never}
	c.catchUp()
	c.round.loops = append(c.round.loops, l)
	c.round.arrange()
	c.round.markAwake(l)
	c.arm()
	return l, nil
}

// Name returns the loop's name.
func (l *Loop) Name() string { return l.name }

// Watch makes writes to the n bytes at addr wake the loop. The watched ranges of one memory must
// not overlap. stop ends the watch.
func (l *Loop) Watch(addr uint64, n int) (stop func(), err error) {
	return l.WatchAnd(addr, n, nil)
}

// WatchAnd does what Watch does, and calls note for each write, when it takes effect. note costs
// the core no time.
func (l *Loop) WatchAnd(addr uint64, n int, note func(addr uint64, n int)) (stop func(), err error) {
	if l.core.watcher == nil {
		return nil, fmt.Errorf("cpu: %s: loop %s watches %d B at %#x: the core was built without a Watcher",
			l.core.Name(), l.name, n, addr)
	}
	others, err := l.core.watcher.Watch(addr, n, func(addr uint64, n int) {
		l.Wake()
		if note != nil {
			note(addr, n)
		}
	})
	if err != nil {
		return nil, err
	}
	// The core's loads see its own stores before they take effect, so the loop must wake when a store is recorded.
	own, err := l.core.ownWatches.Watch(addr, n, func(uint64, int) { l.Wake() })
	if err != nil {
		others()
		return nil, fmt.Errorf("cpu: %s: loop %s: %w", l.core.Name(), l.name, err)
	}
	stop = func() {
		others()
		own()
	}
	l.stops = append(l.stops, stop)
	return stop, nil
}

// Wake wakes the loop, like a write to a watched range at this instant.
func (l *Loop) Wake() {
	if l.wrote != never || l.stopped {
		return
	}
	l.wrote = simcore.Now(l.core.sched)
	l.core.round.markAwake(l)
	l.core.arm()
}

// WakeAt makes the core step the loop at its first poll at or after a time, without a write. There
// is one timer per loop; the earlier time counts.
func (l *Loop) WakeAt(at simcore.Ps) {
	if at = max(at, l.core.Now()); at >= l.timer || l.stopped {
		return
	}
	l.timer = at
	l.core.round.markAwake(l)
	l.core.arm()
}

// Disarm cancels WakeAt.
func (l *Loop) Disarm() {
	l.timer = never
	l.core.round.markAsleep(l)
}

// Stop removes the loop from the polling order, and ends its watches.
func (l *Loop) Stop() {
	if l.stopped {
		return
	}
	c := l.core
	c.catchUp()
	l.stopped, l.ready, l.wrote, l.timer = true, false, never, never
	c.round.markAsleep(l)
	for _, stop := range l.stops {
		stop()
	}
	l.stops = nil
	i := l.place
	c.round.loops = slices.Delete(c.round.loops, i, i+1)
	if c.round.next > i {
		c.round.next--
	}
	c.round.arrange()
	if c.round.next >= len(c.round.loops) {
		c.round.next = 0
	}
	c.arm()
}
