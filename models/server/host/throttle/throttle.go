// Package throttle limits the memory traffic of a host's software, so that more
// bandwidth is left for devices, as HostCC does when its IIO buffer fills. It is
// a mem.Target over a mem.Target, between a core's private cache and the
// last-level cache.
//
// Accesses pass in order, their bytes at the rate that was last set. Below that rate, each passes
// at once.
//
// Invariants:
//   - It keeps the protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes passed on + bytes held.
//   - Without a rate it costs no events.
//   - Nothing is allocated per access, once the throttle has reached its largest
//     number of accesses in flight.
package throttle

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// Spec configures a Throttle.
type Spec struct {
	Rate simcore.Rate `yaml:"rate"` // initial rate; zero: no bound
}

// Validate returns every error of the spec.
func (s Spec) Validate() error { return pace.Check("rate", s.Rate) }

// Builder makes a Throttle in front of Memory.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Throttle, error) {
	if err := errors.Join(field.Need(b.Scheduler != nil, "scheduler"), field.Need(b.Memory != nil, "memory"),
		b.Spec.Validate()); err != nil {
		return nil, fmt.Errorf("throttle: %s: %w", name, err)
	}
	t := &Throttle{Portless: simcore.NewPortless(name), sched: b.Scheduler, memory: b.Memory,
		pace: pace.Pacer{Rate: b.Spec.Rate}}
	t.alarm = simcore.NewAlarm(b.Scheduler, t, true)
	return t, nil
}

// Throttle bounds the rate of accesses.
type Throttle struct {
	simcore.Portless

	sched   simcore.Scheduler
	memory  mem.Target
	pace    pace.Pacer
	waiting fifo.Queue[*mem.Access]
	alarm   simcore.Alarm
	running bool
	stats   Stats
}

// Stats counts what passed through a throttle.
type Stats struct {
	AcceptedBytes uint64 // bytes of reads and writes
	PassedBytes   uint64
	Held          uint64
	Delayed       uint64 // number of accesses that had to wait
}

// Stats returns the counters so far.
func (t *Throttle) Stats() Stats { return t.stats }

// Idle reports whether nothing waits.
func (t *Throttle) Idle() bool { return t.waiting.Len() == 0 }

// SetRate changes the rate from now on; zero: no bound.
func (t *Throttle) SetRate(r simcore.Rate) error {
	if err := pace.Check("rate", r); err != nil {
		return fmt.Errorf("throttle: %s: %w", t.Name(), err)
	}
	t.pace = pace.Pacer{Rate: r}
	t.run()
	return nil
}

// Check implements mem.Target.
func (t *Throttle) Check(op mem.Op, addr uint64, n int) error { return t.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (t *Throttle) Access(a *mem.Access) {
	if err := a.Verify(t); err != nil {
		a.Finish(err)
		return
	}
	t.stats.AcceptedBytes += uint64(len(a.Data))
	t.stats.Held += uint64(len(a.Data))
	t.waiting.Push(a)
	t.run()
	if t.waiting.Len() > 0 {
		t.stats.Delayed++
	}
}

// TakesRun implements mem.Runner. While a rate is set, it takes no run, because the lines would
// pass at different times.
func (t *Throttle) TakesRun(addr uint64, n int) bool {
	return t.pace.Rate == (simcore.Rate{}) && t.waiting.Len() == 0 && !t.running && mem.TakesRun(t.memory, addr, n)
}

// run passes on accesses as far as the rate allows.
func (t *Throttle) run() {
	if t.running {
		return
	}
	t.running = true
	now := simcore.Now(t.sched)
	for t.waiting.Len() > 0 {
		if t.pace.Free > now {
			t.alarm.Set(t.pace.Free)
			break
		}
		a := t.waiting.Pop()
		t.pace.Take(now, len(a.Data))
		t.stats.PassedBytes += uint64(len(a.Data))
		t.stats.Held -= uint64(len(a.Data))
		t.memory.Access(a)
	}
	t.running = false
}

// Handle implements sim.Handler: the rate allows the next access.
func (t *Throttle) Handle(e sim.Event) error {
	if !t.alarm.Rang(e) {
		return fmt.Errorf("throttle: %s: event of type %T: want its own", t.Name(), e)
	}
	t.run()
	return nil
}

var (
	_ sim.Component = (*Throttle)(nil)
	_ mem.Runner    = (*Throttle)(nil)
)
