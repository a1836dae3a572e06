package private

import (
	"fmt"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Builder makes a Cache.
type Builder struct {
	Scheduler simcore.Scheduler
	Spec      Spec
	Memory    mem.Target   // memory that the cores share
	View      mem.Backdoor // bytes of Memory at this moment; nil: Memory, if it is a mem.Backdoor
	Domain    *Domain      // coherence domain of the memory behind View
	Uncached  []Range      // addresses that are not cached, because writes there are not reported
}

// Range is a range of addresses.
type Range struct{ Base, Bytes uint64 }

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*Cache, error) {
	if b.View == nil {
		b.View, _ = b.Memory.(mem.Backdoor)
	}
	switch {
	case b.Scheduler == nil:
		return nil, fmt.Errorf("private: %s has no scheduler", name)
	case b.Memory == nil:
		return nil, fmt.Errorf("private: %s has no memory", name)
	case b.View == nil:
		return nil, fmt.Errorf("private: %s has no view of its memory: want Builder.View, or a memory that is a "+
			"mem.Backdoor", name)
	case b.Domain == nil:
		return nil, fmt.Errorf("private: %s has no domain: want one, to be notified of writes by others", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	n := b.Spec.sets() * uint64(b.Spec.Ways)
	c := &Cache{
		Portless: simcore.NewPortless(name), spec: b.Spec, sched: b.Scheduler, memory: b.Memory, view: b.View,
		domain: b.Domain, uncached: b.Uncached,
		sets: b.Spec.sets(), tags: make([]tag, n),
	}
	c.relays.Ended, c.relays.Line = c.passed, c.passedLine
	return c, b.Domain.join(c)
}

// Cache is the private cache of a core.
type Cache struct {
	simcore.Portless

	spec   Spec
	sched  simcore.Scheduler
	memory mem.Target
	view   mem.Backdoor
	domain *Domain

	uncached []Range

	number int // index of the cache in its domain

	sets   uint64
	tags   []tag // tags of all sets, set by set
	clock  uint64
	events simcore.EventPool
	relays mem.Relays
	stores []*mem.Relay // writes of this cache in flight
	stats  Stats
}

// Stats counts what a cache did. Hits and Misses count lines of the core's reads.
type Stats struct {
	Hits, Misses                uint64
	Snooped                     uint64 // lines removed because another agent wrote them
	AcceptedBytes               uint64 // bytes of reads and writes
	FinishedBytes, Held         uint64
	MemoryRead, MemoryWritten   uint64 // bytes requested from memory; bytes sent to it
	MemoryReads, MaintenanceOps uint64
}

// tag is a line that is cached or being fetched.
type tag struct {
	line uint64
	used uint64
	is   presence
}

type presence uint8

const (
	absent presence = iota
	fetching
	present
)

// Stats returns the counters so far.
func (c *Cache) Stats() Stats { return c.stats }

// Idle reports whether no access is in flight.
func (c *Cache) Idle() bool { return c.stats.Held == 0 && len(c.stores) == 0 }

// Check implements mem.Target.
func (c *Cache) Check(op mem.Op, addr uint64, n int) error { return c.memory.Check(op, addr, n) }

// Read implements mem.Backdoor.
func (c *Cache) Read(addr uint64, b []byte) error { return c.view.Read(addr, b) }

// Write implements mem.Backdoor.
func (c *Cache) Write(addr uint64, b []byte) error { return c.view.Write(addr, b) }

// Has reports whether a line is cached.
func (c *Cache) Has(addr uint64) bool {
	t := c.find(addr / lineBytes)
	return t != nil && t.is == present
}

// Access implements mem.Target.
func (c *Cache) Access(a *mem.Access) {
	if err := a.Verify(c); err != nil {
		a.Finish(err)
		return
	}
	c.stats.AcceptedBytes += uint64(len(a.Data))
	c.stats.Held += uint64(len(a.Data))
	again := false
	if a.Op == mem.Read && c.caches(a, a.Addr) {
		var hit bool
		if hit, again = c.look(a); hit {
			ev := c.events.Get()
			ev.At, ev.H, ev.Arg = simcore.Now(c.sched)+c.spec.HitLatency, c, a
			c.sched.Schedule(ev)
			return
		}
	}
	c.pass(a, again)
}

// caches reports whether the cache keeps the line at addr of an access: it does for accesses of a
// core, outside the uncached ranges.
func (c *Cache) caches(a *mem.Access, addr uint64) bool {
	if a.By != mem.Core || len(a.Data) == 0 {
		return false
	}
	for _, r := range c.uncached {
		if addr-r.Base < r.Bytes {
			return false
		}
	}
	return true
}

// look reports whether all lines of a read are cached, and no write of this cache to them is in
// flight. If not, it marks those that are not as being fetched; again: all of them were cached or
// being fetched.
func (c *Cache) look(a *mem.Access) (hit, again bool) {
	lines, found, known := uint64(0), uint64(0), uint64(0)
	first, last := span(a)
	for line := first; line <= last; line++ {
		lines++
		t := c.find(line)
		if t != nil {
			known++
		}
		if t != nil && t.is == present && !c.writes(line) {
			found++
			c.clock++
			t.used = c.clock
		}
	}
	c.stats.Hits += found
	c.stats.Misses += lines - found
	if found == lines {
		return true, false
	}
	for line := first; line <= last; line++ {
		c.allocate(line, fetching)
	}
	return false, known == lines
}

// span returns the first and last line of an access of one byte or more.
func span(a *mem.Access) (first, last uint64) {
	return a.Addr / lineBytes, (a.Addr + uint64(a.Len()) - 1) / lineBytes
}

// pass passes an access on to the memory behind; again is that of mem.Access.
func (c *Cache) pass(a *mem.Access, again bool) {
	p := c.relays.Get(a)
	p.Again = again
	switch a.Op {
	case mem.Read:
		c.stats.MemoryReads++
		c.stats.MemoryRead += uint64(len(a.Data))
	case mem.Write:
		c.stats.MemoryWritten += uint64(len(a.Data))
		c.stores = append(c.stores, p)
	default:
		c.stats.MaintenanceOps++
		c.dropAll(a)
	}
	c.memory.Access(&p.Access)
}

// passed handles the end of an access that was passed on.
func (c *Cache) passed(p *mem.Relay) {
	past := p.Past
	a, err := c.relays.Put(p)
	from := a.Addr + uint64(past)
	switch {
	case a.Op == mem.Write:
		c.stores = slices.Delete(c.stores, slices.Index(c.stores, p), slices.Index(c.stores, p)+1)
		if err == nil && c.caches(a, from) {
			_, last := span(a)
			for line := from / lineBytes; line <= last; line++ {
				c.allocate(line, present)
			}
		}
	case a.Op == mem.Read && c.caches(a, a.Addr):
		c.arrived(a, err)
	case !a.Op.Moves():
		c.dropAll(a)
	}
	c.finish(a, len(a.Data)-past, err)
}

// passedLine handles that memory has ended one line of a run that the cache passed on.
func (c *Cache) passedLine(p *mem.Relay, n int, more bool) {
	a := p.From
	addr := a.Addr + uint64(p.Past)
	p.Past += n
	if c.caches(a, addr) {
		c.allocate(addr/lineBytes, present)
	}
	c.count(n)
	a.Line(a, n, more)
}

// TakesRun implements mem.Runner.
func (c *Cache) TakesRun(addr uint64, n int) bool { return mem.TakesRun(c.memory, addr, n) }

// arrived marks the lines of a completed read as cached, unless another agent has written them
// meanwhile.
func (c *Cache) arrived(a *mem.Access, err error) {
	for line, last := span(a); line <= last; line++ {
		switch t := c.find(line); {
		case t == nil || t.is != fetching:
		case err != nil:
			c.drop(line)
		default:
			t.is = present
		}
	}
}

// finish ends an access; n is the number of its bytes that were not counted as finished before.
func (c *Cache) finish(a *mem.Access, n int, err error) {
	c.count(n)
	a.Finish(err)
}

func (c *Cache) count(n int) {
	c.stats.FinishedBytes += uint64(n)
	c.stats.Held -= uint64(n)
}

// Handle implements sim.Handler: a read that hit is done.
func (c *Cache) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("private: %s: event of type %T: want its own", c.Name(), e)
	}
	a := ev.Arg.(*mem.Access)
	c.events.Put(ev)
	c.finish(a, len(a.Data), c.view.Read(a.Addr, a.Data))
	return nil
}

var (
	_ sim.Component = (*Cache)(nil)
	_ mem.Runner    = (*Cache)(nil)
	_ mem.Backdoor  = (*Cache)(nil)
)
