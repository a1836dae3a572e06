package host

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
	"nictwin/models/server/cpu"
	"nictwin/models/server/cpu/private"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host/dsa"
	"nictwin/models/server/host/iio"
	"nictwin/models/server/host/sockets"
	"nictwin/models/server/host/throttle"
	"nictwin/models/sim/simcore"
)

// Builder makes a Server.
// Memory holds the bytes of all its sockets, by bus address.
// Elsewhere lists memories that belong to no socket, such as a GPU's.
// Far lists memories that do not report writes, such as those behind PCIe: cores access them, but
// do not cache their lines.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    *mem.Space
	Elsewhere []memmap.Region
	Far       []memmap.Region
}

// Server is the sockets of a machine, with their memory and their cores.
type Server struct {
	Sockets *sockets.Sockets
	LLC     []*armcache.Cache // by socket; nil: the socket has no cache
	DRAM    []*dram.DRAM      // by socket
	DSA     []*dsa.Engine     // by socket; empty: the sockets have no copy engine

	name   string
	sched  simcore.Scheduler
	spec   Spec
	domain *private.Domain
	far    []private.Range
	cores  map[coreID]*Core
	parts  []interface{ Idle() bool }
}

// coreID is a core's socket and its number in that socket.
type coreID struct{ socket, core int }

// Core is a core with all components between it and the memory that cores share.
type Core struct {
	*cpu.Core
	TLB      *tlb.TLB
	Private  *private.Cache
	Throttle *throttle.Throttle
	Memory   *memmap.Map // address space that the core's socket sees
}

// Build makes the sockets. The names of their parts begin with `name`. It panics if Akita does not
// accept such a name.
func (b Builder) Build(name string) (*Server, error) {
	if b.Scheduler == nil || b.Memory == nil {
		return nil, fmt.Errorf("host: %s: want a scheduler and a memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	end := b.Spec.SocketBytes * uint64(b.Spec.Sockets)
	if err := b.Memory.Check(mem.Read, b.Spec.Base, int(end)); err != nil {
		return nil, fmt.Errorf("%s: socket_bytes: %w", name, err)
	}
	s := &Server{name: name, sched: b.Scheduler, spec: b.Spec, cores: map[coreID]*Core{}}
	var memories []mem.Target
	var notifiers []private.WriteNotifier
	for i := range b.Spec.Sockets {
		m, err := s.socket(i, b.Memory)
		if err != nil {
			return nil, err
		}
		memories = append(memories, m)
		// Without a cache, every socket reports the writes of the one space that they share.
		if n, ok := m.(private.WriteNotifier); ok && (i == 0 || b.Spec.LLC != nil) {
			notifiers = append(notifiers, n)
		}
	}
	for _, r := range b.Elsewhere {
		if n, ok := r.Memory.(private.WriteNotifier); ok {
			notifiers = append(notifiers, n)
		}
	}
	for _, r := range b.Far {
		s.far = append(s.far, private.Range{Base: r.Base, Bytes: r.Bytes})
	}
	s.domain = private.NewDomain(notifiers...)
	var err error
	s.Sockets, err = sockets.Builder{Scheduler: b.Scheduler, Memories: memories,
		Elsewhere: slices.Concat(b.Elsewhere, b.Far),
		Spec:      sockets.Spec{Base: b.Spec.Base, SocketBytes: b.Spec.SocketBytes, Link: b.Spec.Link}}.Build(name +
		".Sockets")
	if err != nil || b.Spec.DSA == nil {
		return s, err
	}
	return s, s.addCopyEngines()
}

// addCopyEngines gives each socket a copy engine, which accesses memory as a device on that socket
// would.
func (s *Server) addCopyEngines() error {
	for i := range s.spec.Sockets {
		m, err := s.Sockets.At(i)
		if err != nil {
			return err
		}
		e, err := dsa.Builder{Scheduler: s.sched, Spec: *s.spec.DSA,
			Memory: m}.Build(fmt.Sprintf("%s.Socket[%d].DSA", s.name, i))
		if err != nil {
			return err
		}
		s.DSA = append(s.DSA, e)
		s.parts = append(s.parts, e)
	}
	return nil
}

// socket makes the memory of one socket.
func (s *Server) socket(i int, space *mem.Space) (mem.Target, error) {
	at := fmt.Sprintf("%s.Socket[%d]", s.name, i)
	d, err := dram.Builder{Scheduler: s.sched, Spec: s.spec.DRAM, Memory: space}.Build(at + ".DRAM")
	if err != nil {
		return nil, err
	}
	s.DRAM = append(s.DRAM, d)
	s.parts = append(s.parts, d)
	if s.spec.LLC == nil {
		s.LLC = append(s.LLC, nil)
		return uncachedDRAM{d, space}, nil
	}
	c, err := armcache.Builder{Scheduler: s.sched, Spec: *s.spec.LLC, Memory: d}.Build(at + ".LLC")
	s.LLC = append(s.LLC, c)
	s.parts = append(s.parts, c)
	return c, err
}

// uncachedDRAM is DRAM without a cache in front of it: writes take effect on arrival.
type uncachedDRAM struct {
	*dram.DRAM
	space *mem.Space
}

// Watch calls f after writes, as mem.Watches does.
func (b uncachedDRAM) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return b.space.Watch(addr, n, f)
}

// OnWrite calls f after every write to the memory that the sockets share.
func (b uncachedDRAM) OnWrite(f func(addr uint64, n int)) { b.space.OnWrite(f) }

// Device makes an IIO buffer on a socket: the memory that the root of one more device accesses.
func (s *Server) Device(socket int, device string) (*iio.Buffer, error) {
	m, err := s.Sockets.At(socket)
	if err != nil {
		return nil, err
	}
	b, err := iio.Builder{Scheduler: s.sched, Spec: s.spec.IIO,
		Memory: m}.Build(fmt.Sprintf("%s.Socket[%d].%s", s.name, socket, device))
	if err == nil {
		s.parts = append(s.parts, b)
	}
	return b, err
}

// Core returns a core of a socket. It makes the core at the first call.
func (s *Server) Core(socket, number int) (*Core, error) {
	at := coreID{socket, number}
	if c := s.cores[at]; c != nil {
		return c, nil
	}
	if number < 0 || number >= s.spec.CPU.Cores {
		return nil, fmt.Errorf("host: %s: core %d: want 0 to %d", s.name, number, s.spec.CPU.Cores-1)
	}
	m, err := s.Sockets.At(socket)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s.Socket[%d].Core[%d]", s.name, socket, number)
	c := &Core{Memory: m}
	if c.Throttle, err = (throttle.Builder{Scheduler: s.sched, Memory: m}).Build(name + ".Throttle"); err != nil {
		return nil, err
	}
	c.Private, err = private.Builder{Scheduler: s.sched, Spec: s.spec.Private, Memory: c.Throttle, View: m,
		Domain: s.domain, Uncached: s.far}.Build(name + ".Private")
	if err != nil {
		return nil, err
	}
	if c.TLB, err = (tlb.Builder{Spec: s.spec.TLB, Memory: c.Private}).Build(name + ".TLB"); err != nil {
		return nil, err
	}
	if c.Core, err = (cpu.Builder{Scheduler: s.sched, Spec: s.spec.CPU, Memory: c.TLB, View: m,
		Watcher: m}).Build(name); err != nil {
		return nil, err
	}
	s.cores[at] = c
	s.parts = append(s.parts, c.Throttle, c.Private, c.TLB, c.Core)
	return c, nil
}

// Used returns the cores in use of all sockets, in order.
func (s *Server) Used() (list []*Core) {
	for at := range s.spec.Sockets * s.spec.CPU.Cores {
		if c := s.cores[coreID{at / s.spec.CPU.Cores, at % s.spec.CPU.Cores}]; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// Throttle sets the rate of the memory traffic of each core in use; zero: no bound.
func (s *Server) Throttle(r simcore.Rate) error {
	var errs []error
	for _, c := range s.Used() {
		errs = append(errs, c.Throttle.SetRate(r))
	}
	return errors.Join(errs...)
}

// Err returns the first error of a cache, a core or a copy engine, or nil.
func (s *Server) Err() error {
	for _, d := range s.DSA {
		if d != nil && d.Err() != nil {
			return d.Err()
		}
	}
	for _, c := range s.LLC {
		if c != nil && c.Err() != nil {
			return c.Err()
		}
	}
	for at := range s.spec.Sockets * s.spec.CPU.Cores {
		if c := s.cores[coreID{at / s.spec.CPU.Cores, at % s.spec.CPU.Cores}]; c != nil && c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

// Idle reports whether nothing is in flight and every core sleeps.
func (s *Server) Idle() bool {
	return s.Sockets.Idle() &&
		!slices.ContainsFunc(s.parts, func(x interface{ Idle() bool }) bool { return !x.Idle() })
}
