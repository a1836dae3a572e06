// Package mmio has paths from a core to remote registers, as decorators of
// cpu.Registers: a Path takes time (the other socket; a device whose registers
// firmware emulates), a Window turns the accesses into memory accesses (a host
// core's writes to a card's Arm memory).
//
// The papers' host-to-Arm register writes are emulated: firmware takes one after
// the other, and Arm software asks it for the contents. That bounds their rate,
// but not their latency, so a Path has both a service time and a latency: an
// access arrives after the latency, and the next one begins after the service time.
//
// Invariants:
//   - Accesses reach the registers in the order in which they were made.
//   - Writes accepted = writes delivered + writes held.
//   - A Path holds at most Depth accesses: a core's next register write waits.
//   - Nothing is allocated per write, once a Path has been full.
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

// Spec configures a Path.
type Spec struct {
	Latency simcore.Ps `yaml:"latency_ps"` // one way
	Service simcore.Ps `yaml:"service_ps"` // for each access, one after the other
	Depth   int        `yaml:"depth"`      // most accesses in flight
}

// Emulated returns a host's path to the registers of BlueField-3's Arm: a service time of 1 ms per
// access (bf3.mmio_rate: below 1,000 a second), a latency of 1 us and a depth of 64 (both
// assumptions).
func Emulated() Spec {
	return Spec{Latency: simcore.Microsecond, Service: simcore.Millisecond, Depth: 64}
}

// Preset returns the spec of a path by name: only "emulated" exists.
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

// Builder makes a Path.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Registers cpu.Registers // registers at the far end of the path
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Path, error) {
	if err := errors.Join(field.Need(b.Scheduler != nil, "scheduler"), field.Need(b.Registers != nil, "registers"),
		b.Spec.Validate()); err != nil {
		return nil, fmt.Errorf("mmio: %s: %w", name, err)
	}
	return &Path{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, regs: b.Registers}, nil
}

// Path is a path from a core to registers, with a latency and a service time per access.
type Path struct {
	simcore.Portless

	spec     Spec
	sched    simcore.Scheduler
	regs     cpu.Registers
	free     simcore.Ps // time at which the next access can begin
	inFlight fifo.Queue[*item]
	idle     fifo.Free[item]
	events   simcore.EventPool
	onRoom   []func()
	open     int // number of reads whose value has not come back
	stats    Stats
}

// Stats counts the accesses of a path.
type Stats struct {
	Writes, Delivered uint64
	Reads             uint64
}

// item is an access on its way to the registers. done is set for a read only.
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
func (p *Path) Stats() Stats { return p.stats }

// Idle reports whether nothing is in flight in either direction.
func (p *Path) Idle() bool { return p.inFlight.Len() == 0 && p.open == 0 }

// Full implements cpu.Holder.
func (p *Path) Full() bool { return p.inFlight.Len() >= p.spec.Depth }

// OnRoom implements cpu.Holder.
func (p *Path) OnRoom(f func()) { p.onRoom = append(p.onRoom, f) }

// Write implements cpu.Registers.
func (p *Path) Write(off uint32, b []byte) error {
	if len(b) > mem.LineBytes {
		return fmt.Errorf("mmio: %s: write of %d B at %#x: want %d B at most", p.Name(), len(b), off, mem.LineBytes)
	}
	x, err := p.take(off)
	if err != nil {
		return err
	}
	p.stats.Writes++
	x.n = copy(x.b[:], b)
	return nil
}

// Read implements cpu.Registers.
func (p *Path) Read(off uint32, n int, done func(v uint64, err error)) error {
	x, err := p.take(off)
	if err != nil {
		return err
	}
	p.stats.Reads++
	p.open++
	x.n, x.done = n, done
	return nil
}

// take queues an access, and schedules its arrival.
func (p *Path) take(off uint32) (*item, error) {
	if p.Full() {
		return nil, fmt.Errorf("mmio: %s: access at %#x: %d are on the way already (depth)", p.Name(), off,
			p.inFlight.Len())
	}
	x, _ := p.idle.Get()
	x.off, x.done = off, nil
	begin := max(p.free, simcore.Now(p.sched))
	p.free = begin + p.spec.Service
	ev := p.events.Get()
	ev.At, ev.H = begin+p.spec.Latency, p
	p.sched.Schedule(ev)
	p.inFlight.Push(x)
	return x, nil
}

// Handle implements sim.Handler: an access or the result of a read has arrived.
func (p *Path) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("mmio: %s: event of type %T: want its own", p.Name(), e)
	}
	back, _ := ev.Arg.(*answer)
	p.events.Put(ev)
	if back != nil {
		p.open--
		back.done(back.v, back.err)
		return nil
	}
	x := p.inFlight.Pop()
	off, n, done := x.off, x.n, x.done
	if done != nil {
		p.idle.Put(x)
		p.reportRoom()
		if err := p.regs.Read(off, n, func(v uint64, err error) { p.answer(&answer{v, err, done}) }); err != nil {
			p.answer(&answer{0, err, done})
		}
		return nil
	}
	p.stats.Delivered++
	err := p.regs.Write(off, x.b[:n])
	p.idle.Put(x)
	p.reportRoom()
	return err
}

// answer sends the result of a read back.
func (p *Path) answer(a *answer) {
	ev := p.events.Get()
	ev.At, ev.H, ev.Arg = simcore.Now(p.sched)+p.spec.Latency, p, a
	p.sched.Schedule(ev)
}

func (p *Path) reportRoom() {
	if p.inFlight.Len() == p.spec.Depth-1 {
		for _, f := range p.onRoom {
			f()
		}
	}
}

// Window gives access to memory as if it were registers; register offset 0 is address Base.
type Window struct {
	Memory mem.Target
	Base   uint64

	idle fifo.Free[windowAccess]
}

// windowAccess is an access to the memory of a window.
type windowAccess struct {
	mem.Access
	b    [mem.LineBytes]byte
	done func(v uint64, err error) // nil unless the access is a read
}

// Write implements cpu.Registers.
func (w *Window) Write(off uint32, b []byte) error {
	if err := w.check(mem.Write, off, len(b), mem.LineBytes); err != nil {
		return err
	}
	p := w.newAccess(mem.Write, off, len(b))
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
	p := w.newAccess(mem.Read, off, n)
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

func (w *Window) newAccess(op mem.Op, off uint32, n int) *windowAccess {
	p, fresh := w.idle.Get()
	if fresh {
		p.Access.Done = func(*mem.Access) { w.end(p) }
	}
	p.Op, p.By, p.Addr, p.Data, p.Err = op, mem.Device, w.Base+uint64(off), p.b[:n], nil
	return p
}

// end returns the value of a read to its initiator. Errors of writes need no report: Write has
// checked the address.
func (w *Window) end(p *windowAccess) {
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
	_ sim.Component = (*Path)(nil)
	_ cpu.Holder    = (*Path)(nil)
	_ cpu.Registers = (*Window)(nil)
)
