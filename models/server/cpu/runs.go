package cpu

import "nictwin/models/memory/mem"

// runBytes is a divisor of every page size. No run crosses a multiple of it, so none crosses a
// page.
const runBytes = 4096

// run is a set of stores to consecutive lines that was issued as one access (mem.Runner).
type run struct {
	access mem.Access
	data   []byte
	lines  []*line // the stores; those from index `next` on have not taken effect
	next   int
}

func (c *Core) newRun() *run {
	if n := len(c.idleRuns); n > 0 {
		r := c.idleRuns[n-1]
		c.idleRuns = c.idleRuns[:n-1]
		return r
	}
	r := &run{data: make([]byte, 0, runBytes), lines: make([]*line, 0, runBytes/lineBytes)}
	r.access.Op, r.access.By = mem.Write, mem.Core
	r.access.Line = func(_ *mem.Access, _ int, more bool) {
		r.next++
		c.done(r.lines[r.next-1], more)
	}
	r.access.Done = func(*mem.Access) {
		s := r.lines[r.next]
		s.access.Err = r.access.Err
		r.access.Err = nil
		c.idleRuns = append(c.idleRuns, r)
		c.done(s, false)
	}
	return r
}

// consecutive returns how many stores at the front of the record, at most limit, may be issued as a
// run at this moment: each of them must begin a line at the address where the previous one ends.
func (c *Core) consecutive(limit int) int {
	first := c.ops.Front().line
	n, end := 1, first.access.Addr+uint64(first.n)
	for n < min(limit, c.ops.Len()) && end%runBytes != 0 {
		o := c.ops.At(n)
		if end%lineBytes != 0 || o.kind != opStore || o.line.access.Addr != end {
			break
		}
		n, end = n+1, end+uint64(o.line.n)
	}
	if n > 1 && !mem.TakesRun(c.memory, first.access.Addr, int(end-first.access.Addr)) {
		return 1
	}
	return n
}

// issueRun issues the first n stores of the record as a run, and removes all but the last of them
// from the record.
func (c *Core) issueRun(n int) {
	r := c.newRun()
	r.data, r.lines, r.next = r.data[:0], r.lines[:0], 0
	for i := range n {
		s := c.ops.Front().line
		if i < n-1 {
			c.ops.Pop()
		}
		s.access.Op, s.access.Data, s.use = mem.Write, s.own[:s.n], useStore
		r.data, r.lines = append(r.data, s.own[:s.n]...), append(r.lines, s)
	}
	c.storing += n
	c.stats.Stores += uint64(n)
	c.stats.StoreBytes += uint64(len(r.data))
	r.access.Addr, r.access.Data = r.lines[0].access.Addr, r.data
	c.memory.Access(&r.access)
}

// mayWait reports whether the stores that the core could issue now may wait until its next store
// has ended, to be issued as a longer run. They may if that changes no result: if the core can do
// nothing else meanwhile, and the op behind them is a store, too.
func (c *Core) mayWait() bool {
	n := c.spec.Stores - c.storing
	if c.working || !c.busy || c.err != nil || c.copying > 0 || c.due > c.Now() || c.ops.Len() <= n ||
		c.ops.Front().kind != opStore {
		return false
	}
	if c.ahead == 0 {
		c.ahead = c.consecutive(c.spec.Stores)
	}
	return c.ahead > 1 && n <= c.ahead && c.ops.At(n).kind == opStore
}
