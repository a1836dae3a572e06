package tlb

import (
	"fmt"
	"slices"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Builder makes a TLB. Both the core's accesses and the page walks go to Memory. The TLB itself has
// no latency.
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
		entries: make([]page, b.Spec.Entries)}
	for range b.Spec.Walkers {
		t.walkers = append(t.walkers, t.newWalk())
	}
	return t, nil
}

// TLB caches the translations of the pages that a core used most recently.
type TLB struct {
	simcore.Portless

	spec    Spec
	memory  mem.Target
	shift   int
	entries []page // entries of all sets, set by set
	clock   uint64
	queue   fifo.Queue[*waiter] // accesses that wait for a walk, and those behind them
	idle    []*waiter
	walkers []*walk // idle walkers
	walking []*walk
	toWalk  fifo.Queue[uint64] // pages that wait for an idle walker
	passing bool
	stats   Stats
}

// Stats counts what a TLB did. Hits and Misses count pages of accesses.
type Stats struct {
	Hits, Misses  uint64
	Walks         uint64
	WalkReads     uint64 // page-table entries read
	AcceptedBytes uint64 // bytes of reads and writes
	PassedBytes   uint64
	Held          uint64
}

// page is a TLB entry. number is the page's number plus one, 0 if the entry is empty; used is its
// LRU time.
type page struct{ number, used uint64 }

// waiter is an access that waits for its walks, or behind another access.
type waiter struct {
	a           *mem.Access
	first, last uint64 // range of the numbers of the access's pages
	err         error  // error of a walk to one of the access's pages
}

// walk is a page walker and the page that it looks up.
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
			if !t.use(p, accessCount(a)) && !t.walkPending(p, p) {
				t.toWalk.Push(p)
			}
		}
	}
	t.queue.Push(w)
	t.pass()
	t.start()
}

// use looks a page up, and reports whether it is cached. A hit counts as `count` accesses (see accessCount).
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

// accessCount returns what an access counts for in the statistics: 1, or the number of lines of a
// run.
func accessCount(a *mem.Access) uint64 {
	if a.Line == nil {
		return 1
	}
	return mem.Lines(a.Addr, len(a.Data))
}

// TakesRun implements mem.Runner. It takes runs in one cached page only: no other run passes
// without waiting.
func (t *TLB) TakesRun(addr uint64, n int) bool {
	first, last := addr>>t.shift, (addr+uint64(n)-1)>>t.shift
	return first == last && !t.passing && t.queue.Len() == 0 && t.find(first) != nil && mem.TakesRun(t.memory, addr, n)
}

func (t *TLB) set(number uint64) []page {
	sets := uint64(t.spec.Entries / t.spec.Ways)
	at := number % sets * uint64(t.spec.Ways)
	return t.entries[at : at+uint64(t.spec.Ways)]
}

// insert caches a page, in place of the least recently used one of its set.
func (t *TLB) insert(number uint64) {
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

// walkPending reports whether a walk to one of the pages is in progress or queued.
func (t *TLB) walkPending(first, last uint64) bool {
	for _, w := range t.walking {
		if w.page >= first && w.page <= last {
			return true
		}
	}
	for i := range t.toWalk.Len() {
		if p := *t.toWalk.At(i); p >= first && p <= last {
			return true
		}
	}
	return false
}

// pass passes on the accesses at the head of the queue that wait for no walk.
func (t *TLB) pass() {
	if t.passing {
		return
	}
	t.passing = true
	for t.queue.Len() > 0 {
		w := *t.queue.Front()
		if t.walkPending(w.first, w.last) {
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

// start assigns waiting pages to idle walkers.
func (t *TLB) start() {
	for t.toWalk.Len() > 0 && len(t.walkers) > 0 {
		last := len(t.walkers) - 1
		w := t.walkers[last]
		t.walkers = t.walkers[:last]
		w.page, w.level = t.toWalk.Pop(), t.spec.Levels()
		t.walking = append(t.walking, w)
		t.stats.Walks++
		t.read(w)
	}
}

// read reads the page-table entry of a walk's next level, or ends the walk.
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
		t.insert(w.page)
	} else {
		t.refuse(w.page, fmt.Errorf("tlb: %s: walk to page %#x: %w", t.Name(), w.page, err))
	}
	t.pass()
	t.start()
}

// refuse makes the waiting accesses to a page fail.
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
