package armcache

import (
	"fmt"
	"slices"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
)

// fetch is a line requested from memory and the reads that wait for it (an MSHR).
type fetch struct {
	mem.Access
	line  uint64
	data  [lineBytes]byte
	waits []waiter
}

// waiter is a read that waits for bytes of a line being fetched.
type waiter struct {
	x   *transfer
	off int
	dst []byte
}

// sent is a memory access that is no fetch: a write-back, or the part of an access that bypasses
// the cache.
type sent struct {
	mem.Access
	x   *transfer // the access that waits for this one; nil: no access waits
	own []byte    // buffer for the line of a write-back; nil: not a write-back
}

func (c *Cache) newFetch() *fetch {
	f := new(fetch)
	f.Op, f.Data = mem.Read, f.data[:]
	f.Done = func(*mem.Access) { c.filled(f) }
	return f
}

func (c *Cache) newSent(own []byte) *sent {
	s := &sent{own: own}
	s.Done = func(*mem.Access) { c.arrived(s) }
	return s
}

// advance does the steps of an access up to its byte n, line by line. It returns false if a step
// must wait.
func (c *Cache) advance(x *transfer, n int) bool {
	a := x.a
	for x.at < n {
		addr := a.Addr + uint64(x.at)
		off := int(addr % lineBytes)
		k := min(lineBytes-off, n-x.at)
		c.req = core.Request{Op: a.Op, By: a.By, Line: addr / lineBytes, Off: off, Again: a.Again}
		if a.Op.Moves() {
			c.req.Data = a.Data[x.at : x.at+k]
		}
		room := core.Room{Fetch: len(c.idleFetches) > 0}
		if last := len(c.idleWriteBacks) - 1; last >= 0 {
			room.WriteBack = c.idleWriteBacks[last].own
		}
		out := c.lines.Step(&c.req, room)
		if out.Kind != core.Bypass {
			c.pass(x)
		}
		if out.Kind == core.Stalled {
			return false
		}
		c.follow(x, out)
		x.at += k
	}
	c.pass(x)
	return true
}

// follow carries out the memory accesses that a step's outcome requests.
func (c *Cache) follow(x *transfer, out core.Outcome) {
	if out.WriteBack || out.Fetch {
		c.schedule(x)
	}
	if out.WriteBack {
		c.writeBack(x, out.Victim)
	}
	switch {
	case out.Fetch:
		c.fetch(x, out.Kind == core.Joined)
	case out.Kind == core.Joined:
		for _, f := range c.fetching {
			if f.line == c.req.Line {
				c.wait(f, x)
			}
		}
	case out.Kind == core.Bypass && x.bypass < 0:
		x.bypass = x.at
	}
}

// wait adds the current step's read to those that wait for a fetch.
func (c *Cache) wait(f *fetch, x *transfer) {
	x.waits++
	f.waits = append(f.waits, waiter{x, c.req.Off, c.req.Data})
}

// fetch requests the current step's line from memory; wait is set if the access waits for it.
func (c *Cache) fetch(x *transfer, wait bool) {
	last := len(c.idleFetches) - 1
	f := c.idleFetches[last]
	c.idleFetches = c.idleFetches[:last]
	f.line, f.Addr, f.By, f.Err = c.req.Line, c.req.Line*lineBytes, x.a.By, nil
	if wait {
		c.wait(f, x)
	}
	c.fetching = append(c.fetching, f)
	c.stats.MemoryRead += lineBytes
	c.memory.Access(&f.Access)
}

// filled is called when memory has completed a fetch.
func (c *Cache) filled(f *fetch) {
	err := f.Err
	if err == nil {
		c.fail(c.lines.Fill(f.line, f.data[:]))
	} else {
		lost, wrong := c.lines.Fail(f.line)
		if c.fail(wrong); lost {
			c.fail(fmt.Errorf("armcache: %s: bytes written to line %#x are lost, its fetch failed: %w", c.Name(),
				f.Addr, err))
		}
	}
	for _, w := range f.waits {
		if err == nil {
			c.lines.Peek(f.line, w.off, w.dst)
		} else if w.x.err == nil {
			w.x.err = fmt.Errorf("armcache: %s: fetch of line %#x: %w", c.Name(), f.Addr, err)
		}
		w.x.waits--
		c.settle(w.x)
	}
	clear(f.waits)
	f.waits = f.waits[:0]
	at := slices.Index(c.fetching, f)
	c.fetching = slices.Delete(c.fetching, at, at+1)
	c.idleFetches = append(c.idleFetches, f)
	c.retryHead()
}

// writeBack sends the victim's bytes to memory; the step has put them into the next idle write-back. A Clean is not
// done before its write-backs are.
func (c *Cache) writeBack(x *transfer, line uint64) {
	last := len(c.idleWriteBacks) - 1
	s := c.idleWriteBacks[last]
	c.idleWriteBacks = c.idleWriteBacks[:last]
	s.Op, s.By, s.Addr, s.Data = mem.Write, x.a.By, line*lineBytes, s.own
	if x.a.Op == mem.Clean {
		s.x = x
	}
	c.send(s)
}

// pass sends the bytes that bypass the cache to memory, if the access has any that were not sent.
func (c *Cache) pass(x *transfer) {
	if x.bypass < 0 {
		return
	}
	var s *sent
	if n := len(c.idlePast); n > 0 {
		s, c.idlePast = c.idlePast[n-1], c.idlePast[:n-1]
	} else {
		s = c.newSent(nil)
	}
	s.Op, s.By, s.Addr, s.Data, s.x = x.a.Op, x.a.By, x.a.Addr+uint64(x.bypass), x.a.Data[x.bypass:x.at], x
	x.bypass = -1
	c.send(s)
}

func (c *Cache) send(s *sent) {
	if s.x != nil {
		s.x.waits++
	}
	if s.Op == mem.Write {
		c.stats.MemoryWritten += uint64(len(s.Data))
	} else {
		c.stats.MemoryRead += uint64(len(s.Data))
	}
	s.Err = nil
	c.outgoing = append(c.outgoing, s)
	c.memory.Access(&s.Access)
}

// arrived is called when memory has completed a write-back or a bypassing transfer.
func (c *Cache) arrived(s *sent) {
	if x := s.x; x != nil {
		if x.waits--; x.err == nil {
			x.err = s.Err
		}
		c.settle(x)
	} else if s.Err != nil {
		c.fail(fmt.Errorf("armcache: %s: write-back of line %#x: %w", c.Name(), s.Addr, s.Err))
	}
	s.x, s.Data = nil, nil
	at := slices.Index(c.outgoing, s) // most often the first
	c.outgoing = slices.Delete(c.outgoing, at, at+1)
	if s.own == nil {
		c.idlePast = append(c.idlePast, s)
		return
	}
	c.idleWriteBacks = append(c.idleWriteBacks, s)
	c.retryHead()
}

func (c *Cache) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
