package cpu

import (
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// lines holds the accesses of a core in flight: its line fill buffers and its store buffer.
type lines struct {
	idle     []*line
	held     fifo.Queue[*line] // stores and copies that have not taken effect, in program order
	ready    fifo.Queue[*line] // copies that were loaded and wait for room among the stores
	misses   int               // loads in flight
	awaited  int               // loads, Cleans and Invalidates in flight that the core waits for
	storing  int               // stores in flight
	copying  int               // copies whose store was not issued
	part     int64             // fraction of a picosecond that copying takes longer, in 1/Copy.Bytes
	since    simcore.Ps        // when the core began to wait; never: it does not wait
	idleRuns []*run
	ahead    int             // stores at the front of the record that may be issued as a run; 0: not known
	scratch  [lineBytes]byte // what loads bring: software has the bytes already. Also for bytes on their way to hold
}

// line is an access to a line or part of it.
type line struct {
	access mem.Access
	own    [lineBytes]byte // of a store, a copy or a register write
	n      int
	use    use
	wait   bool // the core waits for it
	copied bool
	ended  bool  // the store has taken effect
	to     *line // of a copy's load: its store
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
	c.idle = append(c.idle, s)
}

// hold keeps the bytes of a store until it has taken effect.
func (c *Core) hold(addr uint64, b []byte) *line {
	s := c.newLine()
	s.access.Addr, s.n = addr, copy(s.own[:], b)
	c.held.Push(s)
	c.own.Notify(addr, len(b))
	return s
}

// forward overlays the core's own pending stores on the bytes of memory.
func (c *Core) forward(addr uint64, b []byte) {
	for i := range c.held.Len() {
		s := *c.held.At(i)
		from, to := max(s.access.Addr, addr), min(s.access.Addr+uint64(s.n), addr+uint64(len(b)))
		if from < to && !s.ended {
			copy(b[from-addr:to-addr], s.own[from-s.access.Addr:])
		}
	}
}

// load begins to load a line or part of it; to is the copy that it belongs to, or nil.
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

// issue sends a store.
func (c *Core) issue(s *line) {
	s.access.Op, s.access.Data, s.use = mem.Write, s.own[:s.n], useStore
	c.storing++
	c.memory.Access(&s.access)
}

// done is called when memory is done with an access; more says that the next store ends at once
// after it.
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

// storeEnded handles the end of a store. Those of copies end in any order.
func (c *Core) storeEnded(s *line) {
	c.storing--
	s.ended = true
	if s.copied {
		c.stats.CopiesEnded += uint64(s.n)
	} else {
		c.stats.StoresEnded += uint64(s.n)
	}
	for c.held.Len() > 0 && (*c.held.Front()).ended {
		c.free(c.held.Pop())
	}
}
