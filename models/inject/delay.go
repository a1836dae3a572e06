package inject

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// DelaySpec configures a Delay.
type DelaySpec struct {
	Latency simcore.Ps `yaml:"latency_ps"` // of every access
	Jitter  simcore.Ps `yaml:"jitter_ps"`  // up to this much more for each read, seeded: reorders reads
	Seed    uint64     `yaml:"seed"`
}

// Validate returns every error of the spec.
func (s DelaySpec) Validate() error {
	var errs []error
	for _, c := range [...]struct {
		path field.Path
		v    simcore.Ps
	}{{"latency_ps", s.Latency}, {"jitter_ps", s.Jitter}} {
		if c.v < 0 || c.v > simcore.Second {
			errs = append(errs, field.Errorf(c.path, "%d: want 0 to 1 s", int64(c.v)))
		}
	}
	return errors.Join(errs...)
}

// Delay is a mem.Target that adds latency to the memory behind it: each access reaches that memory when its delay
// has passed. Writes, cleans and invalidates keep their order; a read passes none of them that was issued before it.
type Delay struct {
	name   string
	spec   DelaySpec
	sched  simcore.Scheduler
	memory mem.Target
	rng    rand.PCG
	events simcore.EventPool
	writes fifo.Queue[*mem.Access] // writes, cleans and invalidates whose delay has not passed
	issued int                     // number of writes, cleans and invalidates issued
	passed int                     // number of writes, cleans and invalidates that have reached the memory
}

// NewDelay puts a delay before a memory.
func NewDelay(name string, s simcore.Scheduler, spec DelaySpec, memory mem.Target) (*Delay, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &Delay{name: name, spec: spec, sched: s, memory: memory}
	const stream = 0x726f6f74 // makes the jitter independent of other random numbers with the same seed
	d.rng.Seed(spec.Seed, stream)
	return d, nil
}

// Name returns the name used in the engine's errors.
func (d *Delay) Name() string { return d.name }

// Check implements mem.Target.
func (d *Delay) Check(op mem.Op, addr uint64, n int) error { return d.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (d *Delay) Access(a *mem.Access) {
	wait := d.spec.Latency
	if a.Op == mem.Read && d.spec.Jitter > 0 {
		wait += simcore.Ps(d.rng.Uint64() % uint64(d.spec.Jitter+1))
	}
	if wait == 0 && d.writes.Len() == 0 {
		d.memory.Access(a)
		return
	}
	ev := d.events.Get()
	ev.At, ev.H, ev.Kind = simcore.Now(d.sched)+wait, d, d.issued
	if a.Op != mem.Read {
		d.writes.Push(a)
		d.issued++
		ev.Kind = d.issued
	} else {
		ev.Arg = a
	}
	d.sched.Schedule(ev)
}

// Handle implements sim.Handler: the delay of an access has passed. The event's Kind is the number of writes that
// were issued up to this access.
func (d *Delay) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	writes, a := ev.Kind, ev.Arg
	d.events.Put(ev)
	for d.passed < writes {
		d.passed++
		d.memory.Access(d.writes.Pop())
	}
	if a != nil {
		d.memory.Access(a.(*mem.Access))
	}
	return nil
}

var (
	_ mem.Target  = (*Delay)(nil)
	_ sim.Handler = (*Delay)(nil)
)
