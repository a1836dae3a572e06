// Package mmio has paths from a core to remote registers, as decorators of
// cpu.Registers: Way takes time (the other socket; a device whose registers
// firmware emulates), Window maps the accesses to memory (a host core's writes
// into a card's Arm memory).
//
// The papers' host-to-Arm register writes are emulated: firmware takes each, one
// after the other, and Arm software asks it for the contents. That bounds their
// rate, not their latency, so Way has both.
//
// Invariants:
//   - Accesses reach the registers in the order in which they were made.
//   - Writes accepted = writes delivered + writes held.
//   - A Way holds at most Depth accesses: a core's next register write waits.
//   - Nothing is allocated per write, once a Way has been full.
package mmio

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Spec configures a Way.
type Spec struct {
	Latency simcore.Ps `yaml:"latency_ps"` // one way
	Service simcore.Ps `yaml:"service_ps"` // for each access, one after the other
	Depth   int        `yaml:"depth"`      // most accesses in flight
}

// Emulated returns a host's path to the registers of BlueField-3's Arm: a service time of 1 ms per
// access (bf3.mmio_rate: below 1,000 a second), a latency of 1 us and a depth of 64 (both
// assumption).
func Emulated() Spec {
	return Spec{Latency: simcore.Microsecond, Service: simcore.Millisecond, Depth: 64}
}

// Preset returns a path by name: only "emulated" exists.
func Preset(name string) (Spec, error) {
	if name != "emulated" {
		return Spec{}, fmt.Errorf("mmio: preset is %q: want emulated", name)
	}
	return Emulated(), nil
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	if s.Latency < 0 || s.Latency > simcore.Second {
		errs = append(errs, field.Errorf("latency_ps", "%d: want 0 to 1 s", int64(s.Latency)))
	}
	if s.Service < 0 || s.Service > simcore.Second {
		errs = append(errs, field.Errorf("service_ps", "%d: want 0 to 1 s", int64(s.Service)))
	}
	if s.Depth < 1 || s.Depth > 1<<16 {
		errs = append(errs, field.Errorf("depth", "%d: want 1 to 65536", s.Depth))
	}
	return errors.Join(errs...)
}

// Builder makes a Way.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Registers cpu.Registers // at its far end
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Way, error) {
	if err := errors.Join(field.Need(b.Scheduler != nil, "scheduler"), field.Need(b.Registers != nil, "registers"),
		b.Spec.Validate()); err != nil {
		return nil, fmt.Errorf("mmio: %s: %w", name, err)
	}
	return &Way{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, regs: b.Registers}, nil
}

// Way is a path to registers that takes time.
type Way struct {
	simcore.Portless

	spec   Spec
	sched  simcore.Scheduler
	regs   cpu.Registers
	free   simcore.Ps // when the next access can be served
	going  fifo.Queue[*item]
	idle   fifo.Free[item]
	events simcore.EventPool
	onRoom []func()
	open   int // reads whose value has not come back
	stats  Stats
}

// Stats counts what a path carried.
type Stats struct {
	Writes, Delivered uint64
	Reads             uint64
}

// item is an access in flight; done is set for a read.
type item struct {
	b    [mem.LineBytes]byte
	n    int
	off  uint32
	done func(v uint64, err error)
}

// answer is the result of a read on its way back.
type answer struct {
	v    uint64
	err  error
	done func(v uint64, err error)
}

// Stats returns the counters so far.
func (w *Way) Stats() Stats { return w.stats }

// Idle reports whether nothing is in flight in either direction.
func (w *Way) Idle() bool { return w.going.Len() == 0 && w.open == 0 }

// Full implements cpu.Holder.
func (w *Way) Full() bool { return w.going.Len() >= w.spec.Depth }

// OnRoom implements cpu.Holder.
func (w *Way) OnRoom(f func()) { w.onRoom = append(w.onRoom, f) }

// Write implements cpu.Registers.
func (w *Way) Write(off uint32, b []byte) error {
	if len(b) > mem.LineBytes {
		return fmt.Errorf("mmio: %s: write of %d B at %#x: want %d B at most", w.Name(), len(b), off, mem.LineBytes)
	}
	x, err := w.take(off)
	if err != nil {
		return err
	}
	w.stats.Writes++
	x.n = copy(x.b[:], b)
	return nil
}

// Read implements cpu.Registers.
func (w *Way) Read(off uint32, n int, done func(v uint64, err error)) error {
	x, err := w.take(off)
	if err != nil {
		return err
	}
	w.stats.Reads++
	w.open++
	x.n, x.done = n, done
	return nil
}

// take accepts an access.
func (w *Way) take(off uint32) (*item, error) {
	if w.Full() {
		return nil, fmt.Errorf("mmio: %s: access at %#x: %d are on the way already (depth)", w.Name(), off,
			w.going.Len())
	}
	x, _ := w.idle.Get()
	x.off, x.done = off, nil
	w.free = max(w.free, simcore.Now(w.sched)) + w.spec.Service
	ev := w.events.Get()
	ev.At, ev.H = w.free+w.spec.Latency, w
	w.sched.Schedule(ev)
	w.going.Push(x)
	return x, nil
}

// Handle implements sim.Handler: an access has arrived, or an answer.
func (w *Way) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("mmio: %s: event of type %T: want its own", w.Name(), e)
	}
	back, _ := ev.Arg.(*answer)
	w.events.Put(ev)
	if back != nil {
		w.open--
		back.done(back.v, back.err)
		return nil
	}
	x := w.going.Pop()
	off, n, done := x.off, x.n, x.done
	if done != nil {
		w.idle.Put(x)
		w.room()
		if err := w.regs.Read(off, n, func(v uint64, err error) { w.answer(&answer{v, err, done}) }); err != nil {
			w.answer(&answer{0, err, done})
		}
		return nil
	}
	w.stats.Delivered++
	err := w.regs.Write(off, x.b[:n])
	w.idle.Put(x)
	w.room()
	return err
}

// answer sends the result of a read back.
func (w *Way) answer(a *answer) {
	ev := w.events.Get()
	ev.At, ev.H, ev.Arg = simcore.Now(w.sched)+w.spec.Latency, w, a
	w.sched.Schedule(ev)
}

func (w *Way) room() {
	if w.going.Len() == w.spec.Depth-1 {
		for _, f := range w.onRoom {
			f()
		}
	}
}

// Window is memory that a core reaches as if it were registers: offset 0 is Base.
type Window struct {
	Memory mem.Target
	Base   uint64

	idle fifo.Free[passage]
}

// passage is an access to the memory of a window.
type passage struct {
	mem.Access
	b    [mem.LineBytes]byte
	done func(v uint64, err error) // of a read
}

// Write implements cpu.Registers.
func (w *Window) Write(off uint32, b []byte) error {
	if err := w.check(mem.Write, off, len(b), mem.LineBytes); err != nil {
		return err
	}
	p := w.passage(mem.Write, off, len(b))
	copy(p.b[:], b)
	w.Memory.Access(&p.Access)
	return nil
}

// Read implements cpu.Registers.
func (w *Window) Read(off uint32, n int, done func(v uint64, err error)) error {
	const word = 8
	if err := w.check(mem.Read, off, n, word); err != nil {
		return err
	}
	p := w.passage(mem.Read, off, n)
	p.done = done
	w.Memory.Access(&p.Access)
	return nil
}

func (w *Window) check(op mem.Op, off uint32, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("mmio: %v of %d B at %#x of a window: want 1 to %d B", op, n, off, most)
	}
	return w.Memory.Check(op, w.Base+uint64(off), n)
}

func (w *Window) passage(op mem.Op, off uint32, n int) *passage {
	p, fresh := w.idle.Get()
	if fresh {
		p.Access.Done = func(*mem.Access) { w.end(p) }
	}
	p.Op, p.By, p.Addr, p.Data, p.Err = op, mem.Device, w.Base+uint64(off), p.b[:n], nil
	return p
}

// end returns the value of a read to its initiator. A write was checked before.
func (w *Window) end(p *passage) {
	v, done := uint64(0), p.done
	for i := len(p.Data) - 1; i >= 0 && done != nil; i-- {
		v = v<<8 | uint64(p.Data[i])
	}
	p.done = nil
	err := p.Err
	w.idle.Put(p)
	if done != nil {
		done(v, err)
	}
}

var (
	_ sim.Component = (*Way)(nil)
	_ cpu.Holder    = (*Way)(nil)
	_ cpu.Registers = (*Window)(nil)
)
