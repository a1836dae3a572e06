package path

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// memory is a DRAM, with or without a cache in front of it.
type memory struct {
	engine *simcore.Engine
	top    mem.Target
	cache  *armcache.Cache // last-level cache in front of the DRAM; nil: no cache
	dram   *dram.DRAM
}

// memoryBytes is the size of the address space, more than any experiment uses. Only written pages are allocated.
const memoryBytes = 1 << 32

func newMemory(cache *armcache.Spec, d dram.Spec) (*memory, error) {
	m := &memory{engine: simcore.NewEngine()}
	var err error
	if m.dram, err = (dram.Builder{Scheduler: m.engine, Spec: d, Memory: mem.NewSparse(memoryBytes)}).Build(
		"DRAM"); err != nil {
		return nil, err
	}
	m.top = m.dram
	if cache != nil {
		if m.cache, err = (armcache.Builder{Scheduler: m.engine, Spec: *cache,
			Memory: m.dram}).Build("LLC"); err != nil {
			return nil, err
		}
		m.top = m.cache
	}
	return m, nil
}

// snapshot holds the counters of cache and DRAM at one time, or their increase between two.
type snapshot struct {
	read, written           uint64 // bytes read from and written to DRAM
	llcRead, llcWritten     uint64 // bytes read and written through the cache
	readHits, writeHits     uint64 // bytes of accesses that hit in the cache, in whole lines
	fills, writeBacks       uint64
	evictedDirty, written64 uint64 // number of lines
}

func (m *memory) snapshot() (k snapshot) {
	d := m.dram.Counters()
	k.read, k.written = d.ReadBytes, d.WrittenBytes
	if m.cache == nil {
		return k
	}
	c := m.cache.Counters()
	t := c.Sum()
	k.llcRead, k.llcWritten = t.ReadBytes, t.WriteBytes
	k.readHits, k.writeHits = t.ReadHits*mem.LineBytes, t.WriteHits*mem.LineBytes
	k.fills, k.writeBacks = t.FillBytes(), t.WriteBackBytes()
	k.evictedDirty, k.written64 = t.EvictedDirty, t.Writes
	return k
}

func (k snapshot) since(o snapshot) snapshot {
	return snapshot{
		k.read - o.read, k.written - o.written, k.llcRead - o.llcRead, k.llcWritten - o.llcWritten,
		k.readHits - o.readHits,
		k.writeHits - o.writeHits, k.fills - o.fills, k.writeBacks - o.writeBacks, k.evictedDirty - o.evictedDirty,
		k.written64 - o.written64,
	}
}

// ledger returns the bytes that crossed cache and DRAM, per byte of payload.
func (k snapshot) ledger(design string, payload uint64) *study.Ledger {
	b := study.NewLedger(design, payload)
	b.Add("LLC", "reads", k.llcRead)
	b.Add("LLC", "writes", k.llcWritten)
	bookCache(b, "LLC", k.writeHits, k.readHits, k.fills, k.writeBacks)
	b.Add("DRAM", "reads", k.read)
	b.Add("DRAM", "writes", k.written)
	return b
}

// check compares the bytes that entered cache and DRAM with those that left. Nothing may be in flight.
func (m *memory) check() error {
	d := m.dram.Counters()
	if err := study.Balance("DRAM", d.ReadBytes+d.WrittenBytes, d.FinishedBytes+d.Held); err != nil || m.cache == nil {
		return err
	}
	if err := m.cache.Err(); err != nil {
		return fmt.Errorf("LLC: %w", err)
	}
	st, n := m.cache.Stats(), m.cache.Counters()
	t := n.Sum()
	for _, x := range []struct {
		where   string
		in, out uint64
	}{
		{"LLC", st.AcceptedBytes, st.FinishedBytes + st.Held}, {"LLC to DRAM, reads", t.MemoryReadBytes(), d.ReadBytes},
		{"LLC to DRAM, writes", t.MemoryWriteBytes(), d.WrittenBytes},
	} {
		if err := study.Balance(x.where, x.in, x.out); err != nil {
			return err
		}
	}
	return nil
}

// load keeps a window of accesses of one size in flight. Function `at` returns the address of each access.
type load struct {
	m      *memory
	window int
	size   int
	every  simcore.Ps // minimum interval between starts of accesses; 0: accesses start as soon as the window allows
	op     func(i int) mem.Op
	at     func(i int) uint64
	meter  *study.Meter

	i     int
	over  bool
	idle  []*mem.Access
	next  simcore.Ps
	wake  simcore.Event
	armed bool
	err   error
}

// run runs the load and returns its rate.
func (l *load) run(s *study.Session, name string) (study.Estimate, error) {
	for range l.window {
		l.idle = append(l.idle, &mem.Access{Data: make([]byte, l.size), Done: l.done})
	}
	l.wake.H = l
	l.issue()
	if err := l.m.engine.Run(); err != nil {
		return study.Estimate{}, err
	}
	if err := l.err; err != nil {
		return study.Estimate{}, fmt.Errorf("%s: %w", name, err)
	}
	e := l.meter.Estimate()
	s.Ran(name, e, 1)
	s.Outcome.SimPs += int64(l.m.engine.Now())
	if err := l.m.check(); err != nil {
		return e, err
	}
	return e, s.Err()
}

func (l *load) issue() {
	now := l.m.engine.Now()
	for len(l.idle) > 0 && !l.over {
		if now < l.next {
			l.arm()
			return
		}
		a := l.idle[len(l.idle)-1]
		l.idle = l.idle[:len(l.idle)-1]
		a.Op, a.By, a.Addr = l.op(l.i), mem.Device, l.at(l.i)
		l.i++
		l.next = max(l.next, now-l.every) + l.every
		l.m.top.Access(a)
	}
}

func (l *load) arm() {
	if !l.armed {
		l.armed, l.wake.At = true, l.next
		l.m.engine.Schedule(&l.wake)
	}
}

func (l *load) done(a *mem.Access) {
	l.idle = append(l.idle, a)
	if a.Err != nil && l.err == nil {
		l.err = a.Err
	}
	if !l.over && !l.meter.Done(l.m.engine.Now(), len(a.Data)) {
		l.over = true
	}
	if !l.armed && !l.over { // the next access begins in an event of its own
		l.armed, l.wake.At = true, max(l.next, l.m.engine.Now())
		l.m.engine.Schedule(&l.wake)
	}
}

// Name implements sim.Named.
func (l *load) Name() string { return "load" }

// Handle implements sim.Handler.
func (l *load) Handle(sim.Event) error {
	l.armed = false
	l.issue()
	return l.err
}
