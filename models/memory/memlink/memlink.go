// Package memlink is the link from an initiator to a remote memory: the link
// between sockets, the link to a GPU's memory. It is a mem.Target over a
// mem.Target.
//
// Requests travel in order, with the bytes that they write, and reach the memory
// Latency after their last byte left. The response, with the bytes read, returns
// in the same manner. Each direction has its own rate. Accesses in flight are
// not bounded here: the initiators bound theirs.
//
// Invariants:
//   - The protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes finished + bytes held.
//   - Nothing is allocated per access, once the link has reached its largest
//     number of accesses in flight.
package memlink

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/field"
	"nictwin/models/sim/pace"
	"nictwin/models/sim/simcore"
)

// Spec configures a Link.
type Spec struct {
	Latency     simcore.Ps   `yaml:"latency_ps"`   // one way
	Rate        simcore.Rate `yaml:"rate"`         // of each direction; zero: no bound
	HeaderBytes int          `yaml:"header_bytes"` // of each request and each answer, besides the data
}

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	errs := []error{pace.Check("rate", s.Rate)}
	if s.Latency < 0 || s.Latency > simcore.Second {
		errs = append(errs, field.Errorf("latency_ps", "%d: want 0 to 1 s", int64(s.Latency)))
	}
	if s.HeaderBytes < 0 || s.HeaderBytes > 4096 {
		errs = append(errs, field.Errorf("header_bytes", "%d: want 0 to 4096", s.HeaderBytes))
	}
	return errors.Join(errs...)
}

// Builder makes a Link to Memory. There and Back are the bandwidths of the two directions, for
// several links that share them; nil: the link has its own.
type Builder struct {
	Scheduler   simcore.Scheduler
	Spec        Spec
	Memory      mem.Target
	There, Back *pace.Pacer
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Link, error) {
	if b.Scheduler == nil {
		return nil, fmt.Errorf("memlink: %s has no scheduler", name)
	}
	if b.Memory == nil {
		return nil, fmt.Errorf("memlink: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Link{Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory, there: b.There,
		back: b.Back}
	l.relays.Ended = l.answer
	for _, lane := range []**pace.Pacer{&l.there, &l.back} {
		if *lane == nil {
			*lane = &pace.Pacer{Rate: b.Spec.Rate}
		}
	}
	return l, nil
}

// Link is a link to a memory. See the package comment.
type Link struct {
	simcore.Portless

	spec        Spec
	sched       simcore.Scheduler
	memory      mem.Target
	there, back *pace.Pacer
	events      simcore.EventPool
	relays      mem.Relays
	stats       Stats
}

// Stats counts what a link has carried.
type Stats struct {
	Accesses      uint64
	AcceptedBytes uint64 // bytes of reads and writes
	FinishedBytes uint64
	Held          uint64
	ThereBytes    uint64 // bytes sent towards the memory, with headers
	BackBytes     uint64
}

// Kinds of events of a link.
const (
	arrives = iota // a request arrives at the memory
	returns
)

// Stats returns the counters so far.
func (l *Link) Stats() Stats { return l.stats }

// Idle reports whether no access is in flight.
func (l *Link) Idle() bool { return l.stats.Held == 0 }

// Check implements mem.Target.
func (l *Link) Check(op mem.Op, addr uint64, n int) error { return l.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (l *Link) Access(a *mem.Access) {
	if err := a.Verify(l); err != nil {
		a.Finish(err)
		return
	}
	x := l.relays.Get(a)
	l.stats.Accesses++
	l.stats.AcceptedBytes += uint64(len(a.Data))
	l.stats.Held += uint64(len(a.Data))
	n := l.spec.HeaderBytes
	if a.Op == mem.Write {
		n += len(a.Data)
	}
	l.stats.ThereBytes += uint64(n)
	l.send(l.there, n, arrives, x)
}

// answer sends the response of an access back.
func (l *Link) answer(x *mem.Relay) {
	n := l.spec.HeaderBytes
	if x.Op == mem.Read {
		n += len(x.Data)
	}
	l.stats.BackBytes += uint64(n)
	l.send(l.back, n, returns, x)
}

func (l *Link) send(lane *pace.Pacer, n, kind int, x *mem.Relay) {
	ev := l.events.Get()
	ev.At, ev.H, ev.Arg, ev.Kind = lane.Take(simcore.Now(l.sched), n)+l.spec.Latency, l, x, kind
	l.sched.Schedule(ev)
}

// Handle implements sim.Handler: a request or a response has arrived.
func (l *Link) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("memlink: %s: event of type %T: want its own", l.Name(), e)
	}
	x, kind := ev.Arg.(*mem.Relay), ev.Kind
	l.events.Put(ev)
	if kind == arrives {
		l.memory.Access(&x.Access)
		return nil
	}
	a, err := l.relays.Put(x)
	l.stats.FinishedBytes += uint64(len(a.Data))
	l.stats.Held -= uint64(len(a.Data))
	a.Finish(err)
	return nil
}

var (
	_ sim.Component = (*Link)(nil)
	_ mem.Target    = (*Link)(nil)
)
