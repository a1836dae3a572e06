// Package corebus is a driver.Bus for software that runs on a processor core (models/server/cpu) and pays for its work:
// cycles, loads and stores through the core's caches, register writes and reads.
//
// Watches are polled: each watch is a loop of the core that takes turns with its other loops, and costs no events while
// nothing is written. The driver's callbacks run on the core, at the poll that sees the write. Calls from elsewhere
// count as software of the core, too: they begin at its next poll.
//
// The package does not interpret what it carries, and knows neither caches nor the path to the device: the core's
// memory and cpu.Registers hide them.
package corebus

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// Spec is the cost of a driver's work besides its memory accesses and register writes.
type Spec struct {
	Poll  int64 `yaml:"poll_cycles"`  // of polling a completion ring without new entries
	Build int64 `yaml:"build_cycles"` // of building up to 64 B of an entry
	Take  int64 `yaml:"take_cycles"`  // of taking up to 64 B that were read
}

// Costs of an Arm core at 2.5 GHz in cycles.
const (
	armPoll  = 62  // 50 us for 2,000 rings (fs.sq_loop_2000)
	armBuild = 190 // 76 ns, the part of the 276 ns of posting (off-path study, Advice 4) that is not the register write
	armTake  = 20  // assumption
)

// DefaultSpec returns the spec of an Arm core. Experiments that know no other number use it for hosts, too.
func DefaultSpec() Spec { return Spec{Poll: armPoll, Build: armBuild, Take: armTake} }

// Costs of a host core in cycles. The papers print none of them. What a host core spends on a packet in all is known
// from CEIO's Table 4 (see hostnet.Spec), and there the accesses to memory alone take that long.
const (
	hostPoll  = armPoll // assumption: as Arm
	hostBuild = 0
	hostTake  = 0
)

// HostSpec returns the spec of a host core whose software is a network stack of CEIO's study.
func HostSpec() Spec { return Spec{Poll: hostPoll, Build: hostBuild, Take: hostTake} }

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	const most = 1 << 32
	if s.Poll < 1 || s.Poll > most {
		errs = append(errs, field.Errorf("poll_cycles", "%d: want 1 to 2^32", s.Poll))
	}
	if s.Build < 0 || s.Build > most {
		errs = append(errs, field.Errorf("build_cycles", "%d: want 0 to 2^32", s.Build))
	}
	if s.Take < 0 || s.Take > most {
		errs = append(errs, field.Errorf("take_cycles", "%d: want 0 to 2^32", s.Take))
	}
	return errors.Join(errs...)
}

// Bus is a driver's access to its device and memory from a core.
type Bus struct {
	core *cpu.Core
	regs cpu.Registers
	spec Spec

	later    *cpu.Loop // calls deferred; nil: nothing was deferred yet
	deferred fifo.Queue[func()]

	critical *cpu.Loop // critical sections; nil: there was none yet
	sections fifo.Queue[section]
	locked   func() // enter; bound once, as is leave
	unlocked func()
	word     [4]byte // of locks
	lockErr  error   // of the accesses to the word of the current section
}

// section is a critical section of software: f under a lock.
type section struct {
	lock  *driver.Lock
	f     func()
	freed func(error)
}

// New returns the bus of a core to a device's registers.
func New(core *cpu.Core, regs cpu.Registers, s Spec) (*Bus, error) {
	if core == nil || regs == nil {
		return nil, errors.New("corebus: want a core and the registers of a device")
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("corebus: %w", err)
	}
	b := &Bus{core: core, regs: regs, spec: s}
	b.locked, b.unlocked = b.enter, b.leave
	return b, nil
}

// Core returns the core that the bus charges.
func (b *Bus) Core() *cpu.Core { return b.core }

// WriteReg implements driver.Bus. A write that the device refuses ends the run.
func (b *Bus) WriteReg(off uint32, p []byte) error {
	b.core.Post(b.regs, off, p)
	return nil
}

// ReadReg implements driver.Bus.
func (b *Bus) ReadReg(off uint32, n int, done func(v uint64, err error)) {
	b.core.ReadReg(b.regs, off, n, done)
}

// Read implements driver.Bus.
func (b *Bus) Read(addr uint64, p []byte, done func(error)) {
	err := b.core.Load(addr, p)
	b.charge(b.spec.Take, len(p))
	done(err)
}

// Prefetch implements driver.Prefetcher.
func (b *Bus) Prefetch(addr uint64, n int) {
	_ = b.core.Prefetch(addr, n) // without memory there, the read that follows reports it
}

// Write implements driver.Bus.
func (b *Bus) Write(addr uint64, p []byte, done func(error)) {
	b.charge(b.spec.Build, len(p))
	done(b.core.Store(addr, p))
}

func (b *Bus) charge(cycles int64, n int) {
	const unit = 64
	if cycles > 0 && n > 0 {
		b.core.ComputeAs(cpu.Queues, cycles*int64((n+unit-1)/unit))
	}
}

// Watch implements driver.Bus.
func (b *Bus) Watch(addr uint64, n int, f func()) (stop func(), err error) {
	written := false
	l, err := b.core.Add(cpu.LoopSpec{Name: fmt.Sprintf("watch of %#x", addr), Poll: b.spec.Poll, As: cpu.Queues},
		func(*cpu.Core) bool {
			found := written
			if written = false; found {
				f()
			}
			return found
		})
	if err != nil {
		return nil, err
	}
	if _, err := l.WatchAnd(addr, n, func(uint64, int) { written = true }); err != nil {
		l.Stop()
		return nil, err
	}
	return l.Stop, nil
}

// Defer implements driver.Deferrer.
func (b *Bus) Defer(f func()) (err error) {
	if b.later == nil {
		b.later, err = b.core.Add(cpu.LoopSpec{Name: "deferred", Poll: b.spec.Poll, As: cpu.Queues},
			func(*cpu.Core) bool { return b.callDeferred() })
		if err != nil {
			return err
		}
	}
	b.deferred.Push(f)
	b.later.Wake()
	return nil
}

// callDeferred calls what was deferred before this turn.
func (b *Bus) callDeferred() bool {
	n := b.deferred.Len()
	for range n {
		b.deferred.Pop()()
	}
	return n > 0
}

// Locked implements driver.Locker. Each critical section is a turn of its own, so that other work of the core does not
// prolong it.
func (b *Bus) Locked(l *driver.Lock, f func(), freed func(error)) (err error) {
	if b.critical == nil {
		b.critical, err = b.core.Add(cpu.LoopSpec{Name: "critical sections", Poll: b.spec.Poll, As: cpu.Queues},
			func(*cpu.Core) bool { return b.acquire() })
		if err != nil {
			return err
		}
	}
	b.sections.Push(section{l, f, freed})
	b.critical.Wake()
	return nil
}

// acquire begins the next critical section, if there is one: the core waits for the lock.
func (b *Bus) acquire() bool {
	if b.sections.Len() == 0 {
		return false
	}
	b.core.Acquire(b.sections.Front().lock)
	b.core.Call(b.locked)
	return true
}

// enter is called when the core has the lock. An atomic instruction reads and writes its word.
func (b *Bus) enter() {
	s := *b.sections.Front()
	b.lockErr = errors.Join(b.core.Load(s.lock.Addr, b.word[:]), b.core.Store(s.lock.Addr, b.word[:]))
	s.f()
	b.lockErr = errors.Join(b.lockErr, b.core.Store(s.lock.Addr, b.word[:]))
	b.core.Call(b.unlocked)
}

// leave is called when everything of a critical section has left the core.
func (b *Bus) leave() {
	s := b.sections.Pop()
	s.lock.Free()
	s.freed(b.lockErr)
}

// Apart is a Bus for boards whose endpoints have separate roots: a register read through an endpoint's root flushes the
// NIC's writes to its memory.
type Apart struct {
	*Bus
	Roots [nicspec.EndpointHost + 1]cpu.Registers // registers of the NIC, through the root of each endpoint
}

// Flush implements driver.Flusher by a register read. Its completion takes the same path as the NIC's writes to that
// root and cannot pass posted requests (PCIe 2.4.1). The core stalls until it arrives.
func (b Apart) Flush(endpoint int, done func(error)) {
	const idBytes = 4
	b.core.ReadReg(b.Roots[endpoint], nicspec.RegId, idBytes, func(_ uint64, err error) { done(err) })
}

var (
	_ driver.Bus        = (*Bus)(nil)
	_ driver.Prefetcher = (*Bus)(nil)
	_ driver.Locker     = (*Bus)(nil)
	_ driver.Flusher    = Apart{}
)
