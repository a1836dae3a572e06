package cpu

import (
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// lines holds a core's memory accesses in flight: its line fill buffers and its store buffer.
type lines struct {
	idle     []*line
	pending  fifo.Queue[*line] // stores and copies that have not taken effect, in program order
	chains   chains            // pending by line, while they are many
	ready    fifo.Queue[*line] // copies whose load has ended and that wait for a free store buffer
	misses   int               // number of loads in flight
	awaited  int               // number of loads, Cleans and Invalidates in flight that the core waits for
	storing  int               // number of stores in flight
	copying  int               // number of copies whose store was not issued
	part     int64             // rounding remainder of the time of copies, in 1/Copy.Bytes of a picosecond
	since    simcore.Ps        // time when the core began to wait; never: the core does not wait
	idleRuns []*run
	ahead    int             // number of stores at the front of the record that may be issued as a run; 0: not known
	scratch  [lineBytes]byte // destination of loads: software has the bytes already. Also a buffer for addPending
}

// line is an access to one line or a part of it.
type line struct {
	access mem.Access
	own    [lineBytes]byte // bytes of a store, a copy or a register write
	n      int
	use    use
	wait   bool // the core waits for the line
	copied bool
	ended  bool  // the store has taken effect
	to     *line // for a copy's load: the copy's store
	next   *line // the next pending store to the same line (chains)
}

type use uint8

const (
	useNone use = iota
	useLoad
	useStore
	useMaintain
)

func (c *Core) newLine() *line {
	if n := len(c.idle); n > 0 {
		s := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return s
	}
	s := new(line)
	s.access.By = mem.Core
	s.access.Done = func(*mem.Access) { c.done(s, false) }
	return s
}

func (c *Core) free(s *line) {
	s.access.Data, s.access.Err, s.access.Span = nil, nil, 0
	s.n, s.use, s.wait, s.copied, s.ended, s.to = 0, useNone, false, false, false, nil
	s.next = nil
	c.idle = append(c.idle, s)
}

// addPending records a store with its bytes, until it has taken effect.
func (c *Core) addPending(addr uint64, b []byte) *line {
	s := c.newLine()
	s.access.Addr, s.n = addr, copy(s.own[:], b)
	c.pending.Push(s)
	c.chains.pushed(&c.pending)
	c.ownWatches.Notify(addr, len(b))
	return s
}

// forward overlays the core's pending stores on bytes of memory at addr, as a load sees them.
func (c *Core) forward(addr uint64, b []byte) {
	if len(c.chains.byLine) > 0 {
		c.chains.forward(addr, b)
		return
	}
	for i := range c.pending.Len() {
		(*c.pending.At(i)).overlay(addr, b)
	}
}

// overlay writes the bytes of a pending store that lie in b, which begins at addr, over those in b.
func (s *line) overlay(addr uint64, b []byte) {
	from, to := max(s.access.Addr, addr), min(s.access.Addr+uint64(s.n), addr+uint64(len(b)))
	if from < to && !s.ended {
		copy(b[from-addr:to-addr], s.own[from-s.access.Addr:])
	}
}

// load issues the load of a line or a part of it. For a line being copied, `to` is the store that
// follows the load; otherwise it is nil. `wait` says that the core waits for the load.
func (c *Core) load(addr uint64, n int, to *line, wait bool) {
	s := c.newLine()
	s.access.Op, s.access.Addr, s.access.Data = mem.Read, addr, c.scratch[:n]
	s.use, s.wait, s.to = useLoad, wait, to
	c.misses++
	if wait {
		c.awaited++
	}
	c.memory.Access(&s.access)
}

// issue issues a store to memory.
func (c *Core) issue(s *line) {
	s.access.Op, s.access.Data, s.use = mem.Write, s.own[:s.n], useStore
	c.storing++
	c.memory.Access(&s.access)
}

// done is called when memory has completed an access. more is set if the next store ends right
// afterwards.
func (c *Core) done(s *line, more bool) {
	if s.access.Err != nil {
		c.fail(fmt.Errorf("%v of %d B at %#x: %w", s.access.Op, s.access.Len(), s.access.Addr, s.access.Err))
	}
	if s.wait {
		c.awaited--
	}
	switch s.use {
	case useLoad:
		c.misses--
		if s.to != nil {
			c.ready.Push(s.to)
		}
		c.free(s)
	case useStore:
		c.storeEnded(s)
	default:
		c.free(s)
	}
	for c.ready.Len() > 0 && c.storing < c.spec.Stores {
		c.copying--
		c.issue(c.ready.Pop())
	}
	if !more || !c.mayWait() {
		c.work()
	}
}

// storeEnded handles the end of a store. Stores of copies end in any order, so storeEnded frees those at the
// front that have ended.
func (c *Core) storeEnded(s *line) {
	c.storing--
	s.ended = true
	if s.copied {
		c.stats.CopiesEnded += uint64(s.n)
	} else {
		c.stats.StoresEnded += uint64(s.n)
	}
	for c.pending.Len() > 0 && (*c.pending.Front()).ended {
		oldest := c.pending.Pop()
		c.chains.popped(oldest)
		c.free(oldest)
	}
}
