// Package memmap joins memories by address: a mem.Target over several. It is the
// address space of an initiator that can reach more than one memory: that of its
// own socket, of the other socket, of a GPU.
//
// Accesses go to the memory in whose region they lie, those that cross a border
// to each in turn. It takes no time, but keeps the order that the protocol
// demands: a write (or Clean, or Invalidate) waits until earlier ones to other
// memories are done, and everything behind it waits with it. So an initiator that
// alternates writes between two memories pays the latency of the slower one for
// each change. Hardware may begin both and order their ends.
//
// Invariants:
//   - The protocol of package mem, whatever memories lie behind.
//   - Bytes accepted = bytes finished + bytes held.
//   - Nothing is allocated per access, once the map has reached its largest
//     number of accesses in flight.
package memmap

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
)

// Watcher reports writes to a memory.
type Watcher interface {
	Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
}

// Region is a memory and its address range.
type Region struct {
	Name   string
	Base   uint64
	Bytes  uint64
	Memory mem.Target

	View    mem.Backdoor // the region's bytes at this moment; nil: Memory, if it is a Backdoor
	Watcher Watcher      // reports writes to the region; nil: Memory, if it is a Watcher
}

// region is a Region with the number of its writes in progress.
type region struct {
	Region
	open int
}

// Map joins memories by address. See the package comment.
type Map struct {
	regions []region
	queue   fifo.Queue[*access]
	idle    fifo.Free[access]
	parts   fifo.Free[part]
	running bool
	issuing *part // part whose memory access is being issued right now
	waiting bool  // Waiting() when it was last checked, for OnEmpty
	onEmpty []func()
	stats   Stats
}

// Stats counts what passed through a map.
type Stats struct {
	AcceptedBytes uint64 // bytes of reads and writes
	FinishedBytes uint64
	Held          uint64
	Changes       uint64 // number of accesses that waited for writes to another memory
}

// access is an access in progress.
type access struct {
	a      *mem.Access
	at     int // number of bytes of the access that were passed on
	left   int // parts in progress, plus one until all parts were passed on
	waited bool
	err    error
}

// part is the piece of an access that lies in one memory.
type part struct {
	mem.Access
	of        *access
	to        *region
	all       *mem.Access // the access, if it lies in one region as a whole; field `of` is nil then
	completed bool        // the memory has completed the part during its method Access
	past      int         // bytes of the lines that the memory has completed, if the access is to several lines
	line      func(a *mem.Access, n int, more bool)
}

// New joins memories into one address space. The error lists every fault of the regions.
func New(regions ...Region) (*Map, error) {
	m := new(Map)
	var errs []error
	for _, r := range regions {
		switch {
		case r.Memory == nil:
			errs = append(errs, fmt.Errorf("memmap: region %s has no memory", r.Name))
		case r.Bytes == 0 || r.Base+r.Bytes-1 < r.Base:
			errs = append(errs, fmt.Errorf("memmap: region %s has %#x B from %#x on: want a range that is not empty "+
				"and does not wrap", r.Name, r.Bytes, r.Base))
		}
		if r.View == nil {
			r.View, _ = r.Memory.(mem.Backdoor)
		}
		if r.Watcher == nil {
			r.Watcher, _ = r.Memory.(Watcher)
		}
		m.regions = append(m.regions, region{Region: r})
	}
	slices.SortFunc(m.regions, func(a, b region) int {
		if a.Base < b.Base {
			return -1
		}
		return 1
	})
	for i := 1; i < len(m.regions); i++ {
		if a, b := &m.regions[i-1], &m.regions[i]; b.Base-a.Base < a.Bytes {
			errs = append(errs, fmt.Errorf("memmap: regions %s and %s overlap at %#x", a.Name, b.Name, b.Base))
		}
	}
	if len(regions) == 0 {
		errs = append(errs, errors.New("memmap: no region: want one or more"))
	}
	return m, errors.Join(errs...)
}

// Stats returns the counters so far.
func (m *Map) Stats() Stats { return m.stats }

// Idle reports whether no access is in progress.
func (m *Map) Idle() bool { return m.stats.Held == 0 && m.queue.Len() == 0 }

// Waiting reports whether an access waits for writes to another memory.
func (m *Map) Waiting() bool { return m.queue.Len() > 0 }

// OnEmpty registers f to be called whenever the last Waiting access has been passed on.
func (m *Map) OnEmpty(f func()) { m.onEmpty = append(m.onEmpty, f) }

// find returns the region of an address, or nil.
func (m *Map) find(addr uint64) *region {
	for i := range m.regions {
		if r := &m.regions[i]; addr >= r.Base && addr-r.Base < r.Bytes {
			return r
		}
	}
	return nil
}

// span returns how many of n bytes at an address lie in the address's region.
func (r *region) span(addr uint64, n int) int {
	return int(min(uint64(n), r.Bytes-(addr-r.Base)))
}

// Check implements mem.Target.
func (m *Map) Check(op mem.Op, addr uint64, n int) error {
	at, left := addr, n
	for {
		r := m.find(at)
		if r == nil {
			return &mem.RangeError{Op: op, Addr: addr, Len: n, There: fmt.Sprintf("no region of the map has %#x", at)}
		}
		k := r.span(at, left)
		if err := r.Memory.Check(op, at, k); err != nil {
			if k == n {
				return err
			}
			return &mem.RangeError{Op: op, Addr: addr, Len: n, There: err.Error()}
		}
		if at, left = at+uint64(k), left-k; left <= 0 {
			return nil
		}
	}
}

// Access implements mem.Target.
func (m *Map) Access(a *mem.Access) {
	if err := a.Verify(m); err != nil {
		a.Finish(err)
		return
	}
	m.stats.AcceptedBytes += uint64(len(a.Data))
	m.stats.Held += uint64(len(a.Data))
	if m.queue.Len() == 0 && !m.running {
		if r := m.find(a.Addr); r.span(a.Addr, a.Len()) == a.Len() && (a.Op == mem.Read || !m.busyElsewhere(r)) {
			m.sendWhole(a, r)
			return
		}
	}
	x, _ := m.idle.Get()
	*x = access{a: a, left: 1}
	m.queue.Push(x)
	m.run()
}

// run passes accesses on, in order, until one must wait.
func (m *Map) run() {
	if m.running {
		return
	}
	m.running = true
	for m.queue.Len() > 0 {
		x := *m.queue.Front()
		if !m.send(x) {
			if !x.waited {
				x.waited = true
				m.stats.Changes++
			}
			break
		}
		m.queue.Pop()
		m.end(x)
	}
	m.running = false
	waited := m.waiting
	if m.waiting = m.Waiting(); waited && !m.waiting {
		for _, f := range m.onEmpty {
			f()
		}
	}
}

// sendWhole passes on an access that lies in one region and need not wait: the common case.
func (m *Map) sendWhole(a *mem.Access, r *region) {
	p := m.newPart()
	p.all, p.to = a, r
	p.Ask(a)
	if p.past = 0; a.Line != nil {
		p.Line = p.line
	}
	if a.Op != mem.Read {
		r.open++
	}
	m.running, m.issuing = true, p
	r.Memory.Access(&p.Access)
	m.issuing = nil
	if p.completed {
		p.completed = false
		m.endWhole(p)
	}
	if m.running = false; m.queue.Len() > 0 {
		m.run()
	}
}

// endWhole ends an access that was passed on by sendWhole.
func (m *Map) endWhole(p *part) {
	a, err := p.all, p.Err
	if p.Op != mem.Read {
		p.to.open--
	}
	left := len(a.Data) - p.past
	p.all, p.to, p.Data, p.Line = nil, nil, nil, nil
	m.parts.Put(p)
	m.finish(a, left, err)
}

// TakesRun implements mem.Runner.
func (m *Map) TakesRun(addr uint64, n int) bool {
	r := m.find(addr)
	return m.queue.Len() == 0 && !m.running && r != nil && r.span(addr, n) == n && !m.busyElsewhere(r) &&
		mem.TakesRun(r.Memory, addr, n)
}

// endLine reports to the initiator of a run (mem.Runner) that one of its cache lines has ended, with n bytes.
func (m *Map) endLine(p *part, n int, more bool) {
	p.past += n
	m.stats.FinishedBytes += uint64(n)
	m.stats.Held -= uint64(n)
	p.all.Line(p.all, n, more)
}

// send passes on the parts of an access. It returns false if the next part must wait.
func (m *Map) send(x *access) bool {
	a, n := x.a, x.a.Len()
	for {
		addr := a.Addr + uint64(x.at)
		r := m.find(addr)
		if a.Op != mem.Read && m.busyElsewhere(r) {
			return false
		}
		k := r.span(addr, n-x.at)
		p := m.newPart()
		p.of, p.to, p.Op, p.By, p.Addr, p.Span, p.Err = x, r, a.Op, a.By, addr, k, nil
		p.Again = a.Again
		if p.Data = nil; a.Op.Moves() {
			p.Data, p.Span = a.Data[x.at:x.at+k], 0
		}
		if a.Op != mem.Read {
			r.open++
		}
		x.left++
		x.at += k
		r.Memory.Access(&p.Access)
		if x.at >= n {
			return true
		}
	}
}

// busyElsewhere reports whether writes to memories other than r are in progress.
func (m *Map) busyElsewhere(r *region) bool {
	for i := range m.regions {
		if o := &m.regions[i]; o != r && o.open > 0 {
			return true
		}
	}
	return false
}

func (m *Map) newPart() *part {
	p, fresh := m.parts.Get()
	if !fresh {
		return p
	}
	p.line = func(_ *mem.Access, n int, more bool) { m.endLine(p, n, more) }
	p.Done = func(*mem.Access) {
		switch {
		case m.issuing == p:
			p.completed = true
			return
		case p.all != nil:
			m.endWhole(p)
			m.run()
			return
		}
		x := p.of
		if x.err == nil {
			x.err = p.Err
		}
		if p.Op != mem.Read {
			p.to.open--
		}
		p.of, p.to, p.Data = nil, nil, nil
		m.parts.Put(p)
		m.end(x)
		m.run()
	}
	return p
}

// end ends one part of an access; the last part ends the access.
func (m *Map) end(x *access) {
	if x.left--; x.left > 0 {
		return
	}
	a, err := x.a, x.err
	*x = access{}
	m.idle.Put(x)
	m.finish(a, len(a.Data), err)
}

// finish ends an access; n is the number of its bytes that were not counted as finished before.
func (m *Map) finish(a *mem.Access, n int, err error) {
	m.stats.FinishedBytes += uint64(n)
	m.stats.Held -= uint64(n)
	a.Finish(err)
}

var _ mem.Runner = (*Map)(nil)
