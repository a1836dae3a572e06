// Package iio is the buffer of a server's root between PCIe and memory (Intel
// calls it IIO): a mem.Target over a mem.Target that holds the devices' writes
// until memory has taken them.
//
// A write occupies its bytes from its arrival until it is done. When Bytes are
// occupied the buffer is full: root.Root, which treats the buffer as a
// mem.Holder, then leaves TLPs in its port, and the link's credits hold the
// device back. Accesses that arrive even so wait in order for room. Reads
// occupy nothing, but do not overtake waiting accesses.
//
// So devices can write at most Bytes per latency of a memory write; and
// occupancy rises before bandwidth falls, which is the signal of HostCC. HostCC
// takes the difference of two Stats: OccupiedPs is the integral of the occupied
// bytes over time.
//
// Invariants:
//   - It keeps the protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes finished + bytes held.
//   - Nothing waits for ever: memory frees all occupied bytes.
//   - Nothing is allocated per access, once the buffer has reached its largest
//     number of accesses in flight.
package iio

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Spec configures a Buffer.
type Spec struct {
	Bytes int `yaml:"bytes"`
}

// DefaultSpec returns a buffer of 93 lines: the highest occupancy in public descriptions of HostCC
// (assumption: not in the papers at hand).
func DefaultSpec() Spec { return Spec{Bytes: 93 * mem.LineBytes} }

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	if s.Bytes < mem.LineBytes || s.Bytes > 1<<30 {
		return field.Errorf("bytes", "%d: want 64 to 2^30", s.Bytes)
	}
	return nil
}

// Builder makes a Buffer in front of Memory. Scheduler only provides the time.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Buffer, error) {
	if err := errors.Join(field.Need(b.Scheduler != nil, "scheduler"), field.Need(b.Memory != nil, "memory"),
		b.Spec.Validate()); err != nil {
		return nil, fmt.Errorf("iio: %s: %w", name, err)
	}
	x := &Buffer{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory}
	x.relays.Ended = x.done
	return x, nil
}

// Buffer is an IIO buffer.
type Buffer struct {
	simcore.Portless

	spec     Spec
	sched    simcore.Scheduler
	memory   mem.Target
	waiting  fifo.Queue[*mem.Access]
	relays   mem.Relays
	onRoom   []func()
	onWrite  func() // called at the next write; nil: nobody waits for one
	occupied int
	counted  simcore.Ps // time up to which the integrals in stats have been computed
	wasFull  bool       // the buffer was full at the end of the latest run
	running  bool
	stats    Stats
}

// Stats counts the accesses of a buffer, and integrates its occupancy.
type Stats struct {
	Inserts       uint64 // number of writes
	AcceptedBytes uint64 // bytes of reads and writes
	FinishedBytes uint64
	WrittenBytes  uint64 // of AcceptedBytes, those of writes
	Held          uint64
	Occupied      int        // bytes occupied now
	Peak          int        // largest number of bytes occupied so far
	OccupiedPs    uint64     // integral of the occupied bytes over time, in bytes times picoseconds
	FullPs        simcore.Ps // total time during which the buffer was full
}

// Stats returns the counters so far.
func (b *Buffer) Stats() Stats {
	b.integrate()
	s := b.stats
	s.Occupied = b.occupied
	return s
}

// integrate brings the sums of occupancy over time and of time spent full up to the current time.
func (b *Buffer) integrate() {
	now := simcore.Now(b.sched)
	b.stats.OccupiedPs += uint64(b.occupied) * uint64(now-b.counted)
	if b.Full() {
		b.stats.FullPs += now - b.counted
	}
	b.counted = now
}

// Idle reports whether no access is in flight.
func (b *Buffer) Idle() bool { return b.stats.Held == 0 && b.waiting.Len() == 0 }

// Full implements mem.Holder.
func (b *Buffer) Full() bool { return b.occupied >= b.spec.Bytes || b.waiting.Len() > 0 }

// OnRoom implements mem.Holder.
func (b *Buffer) OnRoom(f func()) { b.onRoom = append(b.onRoom, f) }

// OnWrite calls f when the next write arrives, before the write counts. There is one such function at a time.
func (b *Buffer) OnWrite(f func()) { b.onWrite = f }

// Handle implements sim.Handler. It has no events.
func (b *Buffer) Handle(e sim.Event) error {
	return fmt.Errorf("iio: %s: event of type %T: want none", b.Name(), e)
}

// Check implements mem.Target.
func (b *Buffer) Check(op mem.Op, addr uint64, n int) error { return b.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (b *Buffer) Access(a *mem.Access) {
	if err := a.Verify(b); err != nil {
		a.Finish(err)
		return
	}
	if f := b.onWrite; f != nil && a.Op == mem.Write {
		b.onWrite = nil
		f()
	}
	b.integrate()
	b.stats.AcceptedBytes += uint64(len(a.Data))
	b.stats.Held += uint64(len(a.Data))
	if a.Op == mem.Write {
		b.stats.WrittenBytes += uint64(len(a.Data))
	}
	b.waiting.Push(a)
	b.run()
}

// run passes on accesses in order, as long as the buffer has room for them. A write longer than the
// buffer is passed on when the buffer is empty.
func (b *Buffer) run() {
	if b.running {
		return
	}
	b.running = true
	for b.waiting.Len() > 0 {
		a := *b.waiting.Front()
		if a.Op == mem.Write && b.occupied > 0 && b.occupied+len(a.Data) > b.spec.Bytes {
			break
		}
		b.waiting.Pop()
		b.pass(a)
	}
	b.running = false
	if full := b.Full(); full != b.wasFull {
		if b.wasFull = full; !full {
			for _, f := range b.onRoom {
				f()
			}
		}
	}
}

func (b *Buffer) pass(a *mem.Access) {
	x := b.relays.Get(a)
	if a.Op == mem.Write {
		b.stats.Inserts++
		b.occupied += len(a.Data)
		b.stats.Peak = max(b.stats.Peak, b.occupied)
	}
	b.memory.Access(&x.Access)
}

func (b *Buffer) done(x *mem.Relay) {
	b.integrate()
	a, err := b.relays.Put(x)
	if a.Op == mem.Write {
		b.occupied -= len(a.Data)
	}
	b.stats.FinishedBytes += uint64(len(a.Data))
	b.stats.Held -= uint64(len(a.Data))
	a.Finish(err)
	b.run()
}

var (
	_ sim.Component = (*Buffer)(nil)
	_ mem.Holder    = (*Buffer)(nil)
)
