package tlb

import (
	"fmt"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Builder makes a TLB. Both the core's accesses and the walks go to Memory. The TLB takes no time
// of its own.
type Builder struct {
	Spec   Spec
	Memory mem.Target
}

// Build makes the component. It panics if Akita does not accept the name.
func (b Builder) Build(name string) (*TLB, error) {
	if b.Memory == nil {
		return nil, fmt.Errorf("tlb: %s has no memory", name)
	}
	if err := b.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := b.Memory.Check(mem.Read, b.Spec.Tables, int(b.Spec.TableBytes())); err != nil {
		return nil, fmt.Errorf("%s: tables: %w", name, err)
	}
	t := &TLB{Portless: simcore.NewPortless(name), spec: b.Spec, memory: b.Memory, shift: b.Spec.shift(),
		known: make([]page, b.Spec.Entries)}
	for range b.Spec.Walkers {
		t.walkers = append(t.walkers, t.newWalk())
	}
	return t, nil
}

// TLB caches the pages that a core used last.
type TLB struct {
	simcore.Portless

	spec    Spec
	memory  mem.Target
	shift   int
	known   []page // set by set
	clock   uint64
	queue   fifo.Queue[*waiter] // waiting accesses, and those behind them
	idle    []*waiter
	walkers []*walk // idle walkers
	walking []*walk
	wanted  fifo.Queue[uint64] // pages that wait for a walker
	passing bool
	stats   Stats
}

// Stats counts what a TLB did. Hits and misses are pages of accesses.
type Stats struct {
	Hits, Misses  uint64
	Walks         uint64
	WalkReads     uint64 // page-table entries
	AcceptedBytes uint64 // of reads and writes
	PassedBytes   uint64
	Held          uint64
}

// page is an entry; number is the page's number plus one.
type page struct{ number, used uint64 }

// waiter is an access that must wait.
type waiter struct {
	a           *mem.Access
	first, last uint64 // its pages
	err         error  // error of a walk to one of them
}

// walk is a walker with the page that it looks up.
type walk struct {
	mem.Access
	page  uint64
	level int
	entry [entryBytes]byte
}

// Stats returns the counters so far.
func (t *TLB) Stats() Stats { return t.stats }

// Idle reports whether no access waits.
func (t *TLB) Idle() bool { return t.queue.Len() == 0 && len(t.walking) == 0 }

// Handle implements sim.Handler. It has no events.
func (t *TLB) Handle(e sim.Event) error {
	return fmt.Errorf("tlb: %s: event of type %T: want none", t.Name(), e)
}

// Check implements mem.Target.
func (t *TLB) Check(op mem.Op, addr uint64, n int) error { return t.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (t *TLB) Access(a *mem.Access) {
	if err := a.Verify(t); err != nil {
		a.Finish(err)
		return
	}
	t.stats.AcceptedBytes += uint64(len(a.Data))
	t.stats.Held += uint64(len(a.Data))
	var w *waiter
	if n := len(t.idle); n > 0 {
		w, t.idle = t.idle[n-1], t.idle[:n-1]
	} else {
		w = new(waiter)
	}
	*w = waiter{a: a, first: 1}
	if n := a.Len(); n > 0 {
		w.first, w.last = a.Addr>>t.shift, (a.Addr+uint64(n)-1)>>t.shift
		for p := w.first; p <= w.last; p++ {
			if !t.use(p, pieces(a)) && !t.sought(p, p) {
				t.wanted.Push(p)
			}
		}
	}
	t.queue.Push(w)
	t.pass()
	t.start()
}

// use reports whether a page is cached, for an access that counts as the given number of accesses.
func (t *TLB) use(number, count uint64) bool {
	if p := t.find(number); p != nil {
		t.clock += count
		p.used = t.clock
		t.stats.Hits += count
		return true
	}
	t.stats.Misses++
	return false
}

// find returns the entry of a page, or nil.
func (t *TLB) find(number uint64) *page {
	set := t.set(number)
	for i := range set {
		if set[i].number == number+1 {
			return &set[i]
		}
	}
	return nil
}

// pieces returns the number of accesses that an access counts as: a run is one per line.
func pieces(a *mem.Access) uint64 {
	if a.Line == nil {
		return 1
	}
	return mem.Lines(a.Addr, len(a.Data))
}

// TakesRun implements mem.Runner: only a cached page takes no time.
func (t *TLB) TakesRun(addr uint64, n int) bool {
	first, last := addr>>t.shift, (addr+uint64(n)-1)>>t.shift
	return first == last && !t.passing && t.queue.Len() == 0 && t.find(first) != nil && mem.TakesRun(t.memory, addr, n)
}

func (t *TLB) set(number uint64) []page {
	sets := uint64(t.spec.Entries / t.spec.Ways)
	at := number % sets * uint64(t.spec.Ways)
	return t.known[at : at+uint64(t.spec.Ways)]
}

// learn caches a page, in place of the one used least recently.
func (t *TLB) learn(number uint64) {
	set := t.set(number)
	best := 0
	for i := range set {
		if set[i].used < set[best].used {
			best = i
		}
	}
	t.clock++
	set[best] = page{number + 1, t.clock}
}

// sought reports whether a walk to one of the pages is running or queued.
func (t *TLB) sought(first, last uint64) bool {
	for _, w := range t.walking {
		if w.page >= first && w.page <= last {
			return true
		}
	}
	for i := range t.wanted.Len() {
		if p := *t.wanted.At(i); p >= first && p <= last {
			return true
		}
	}
	return false
}

// pass lets accesses continue, in order.
func (t *TLB) pass() {
	if t.passing {
		return
	}
	t.passing = true
	for t.queue.Len() > 0 {
		w := *t.queue.Front()
		if t.sought(w.first, w.last) {
			break
		}
		t.queue.Pop()
		a, err := w.a, w.err
		*w = waiter{}
		t.idle = append(t.idle, w)
		t.stats.PassedBytes += uint64(len(a.Data))
		t.stats.Held -= uint64(len(a.Data))
		if err != nil {
			a.Finish(err)
			continue
		}
		t.memory.Access(a)
	}
	t.passing = false
}

func (t *TLB) newWalk() *walk {
	w := new(walk)
	w.Op, w.By, w.Data = mem.Read, mem.Core, w.entry[:]
	w.Done = func(*mem.Access) { t.read(w) }
	return w
}

// start assigns wanted pages to idle walkers.
func (t *TLB) start() {
	for t.wanted.Len() > 0 && len(t.walkers) > 0 {
		last := len(t.walkers) - 1
		w := t.walkers[last]
		t.walkers = t.walkers[:last]
		w.page, w.level = t.wanted.Pop(), t.spec.Levels()
		t.walking = append(t.walking, w)
		t.stats.Walks++
		t.read(w)
	}
}

// read advances a walk to its next level, or ends it.
func (t *TLB) read(w *walk) {
	err := w.Err
	if w.Err = nil; err == nil && w.level > 0 {
		w.level--
		w.Addr = t.spec.entry(w.level, w.page<<t.shift)
		t.stats.WalkReads++
		t.memory.Access(&w.Access)
		return
	}
	t.walking = slices.DeleteFunc(t.walking, func(o *walk) bool { return o == w })
	t.walkers = append(t.walkers, w)
	if err == nil {
		t.learn(w.page)
	} else {
		t.refuse(w.page, fmt.Errorf("tlb: %s: walk to page %#x: %w", t.Name(), w.page, err))
	}
	t.pass()
	t.start()
}

// refuse fails the waiting accesses to a page.
func (t *TLB) refuse(number uint64, err error) {
	for i := range t.queue.Len() {
		if w := *t.queue.At(i); number >= w.first && number <= w.last {
			w.err = err
		}
	}
}

var (
	_ sim.Component = (*TLB)(nil)
	_ mem.Runner    = (*TLB)(nil)
)
