package cpu

import (
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// op is one operation recorded by software.
type op struct {
	kind     opKind
	maintain mem.Op
	begun    bool
	time     simcore.Ps
	addr     uint64
	n        int   // bytes to go
	line     *line // with the bytes of a store, a copy or a register write
	regs     Registers
	done     func(v uint64, err error)
	call     func()
}

type opKind uint8

const (
	opSpend opKind = iota
	opLoad
	opPrefetch
	opStore
	opCopy
	opMaintain
	opFence
	opPost
	opReadReg
	opCall
)

// progress is the state of an op after a replay step.
type progress uint8

const (
	over  progress = iota // the next op follows
	later                 // continue with it when due
	waits                 // a Done or a completion continues it
)

// regRead is the register read that the core waits for.
type regRead struct {
	ended bool
	v     uint64
	err   error
}

// work replays the record until it must wait.
func (c *Core) work() {
	if c.working || !c.busy {
		return
	}
	c.working, c.ahead = true, 0
	defer func() { c.working = false }()
	now := c.Now()
	for c.err == nil {
		if c.ops.Len() == 0 {
			c.recordDone()
			return
		}
		o := c.ops.Front()
		if c.due > now && o.kind != opSpend {
			c.alarm.Set(c.due)
			return
		}
		c.due = max(c.due, now)
		switch c.do(o) {
		case waits:
			c.waitFrom(now)
			return
		case later:
			c.waited(now)
		case over:
			c.waited(now)
			c.end()
		}
	}
}

// waitFrom and waited measure how long the core waits.
func (c *Core) waitFrom(now simcore.Ps) {
	if c.since == never {
		c.since = now
	}
}

func (c *Core) waited(now simcore.Ps) {
	if c.since != never {
		c.stats.Waited += now - c.since
		c.since = never
	}
}

// end takes a finished op off the record, and calls its callback.
func (c *Core) end() {
	o := c.ops.Pop()
	switch o.kind {
	case opCall:
		o.call()
	case opReadReg:
		r := c.reg
		c.reg = regRead{}
		o.done(r.v, r.err)
	}
}

// do carries out an op, or part of it.
func (c *Core) do(o *op) progress {
	switch o.kind {
	case opSpend:
		c.due += o.time
	case opLoad:
		return c.fetch(o, true)
	case opPrefetch:
		return c.fetch(o, false)
	case opStore:
		return c.issueStores(o)
	case opCopy:
		return c.copyLine(o)
	case opMaintain:
		return c.maintainLines(o)
	case opFence:
		if !c.drained() {
			return waits
		}
	case opPost:
		return c.post(o)
	case opReadReg:
		return c.readReg(o)
	}
	return over
}

// fetch loads lines, as many at a time as the core can.
func (c *Core) fetch(o *op, wait bool) progress {
	for o.n > 0 {
		if c.misses == c.spec.Misses {
			return waits
		}
		n := min(o.n, lineBytes-int(o.addr%lineBytes))
		addr := o.addr
		o.addr, o.n = o.addr+uint64(n), o.n-n
		c.stats.Loads++
		c.stats.LoadBytes += uint64(n)
		c.load(addr, n, nil, wait)
	}
	if wait && c.awaited > 0 {
		return waits
	}
	return over
}

// issueStores issues a store, together with the stores to the lines behind it if they form a run.
func (c *Core) issueStores(o *op) progress {
	if c.copying > 0 || c.storing == c.spec.Stores {
		return waits
	}
	if n := c.consecutive(c.spec.Stores - c.storing); n > 1 {
		c.issueRun(n)
		return over
	}
	c.stats.Stores++
	c.stats.StoreBytes += uint64(o.line.n)
	c.issue(o.line)
	return over
}

// copyLine begins to copy a line.
func (c *Core) copyLine(o *op) progress {
	if c.misses == c.spec.Misses {
		return waits
	}
	if r := c.spec.Copy; r.Bytes != 0 {
		t := int64(o.n)*int64(r.Ps) + c.part
		c.due += simcore.Ps(t / r.Bytes)
		c.part = t % r.Bytes
	}
	c.stats.Copied += uint64(o.n)
	c.copying++
	o.line.copied = true
	c.load(o.addr, o.n, o.line, false)
	return over
}

// drained reports whether all earlier stores took effect.
func (c *Core) drained() bool { return c.storing == 0 && c.copying == 0 }

// maintainLines issues a Clean or Invalidate, and waits for it.
func (c *Core) maintainLines(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return waits
		}
		o.begun = true
		s := c.newLine()
		s.access.Op, s.access.Addr, s.access.Span = o.maintain, o.addr, o.n
		s.use, s.wait = useMaintain, true
		c.awaited++
		c.memory.Access(&s.access)
	}
	if c.awaited > 0 {
		return waits
	}
	return over
}

// post pays for a register write, and then sends it.
func (c *Core) post(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return waits
		}
		o.begun = true
		c.due += c.spec.MMIOPost
		c.stats.Waited += c.spec.MMIOPost
		if c.spec.MMIOPost > 0 {
			return later
		}
	}
	if c.refused(o.regs) {
		return waits
	}
	c.stats.Posts++
	c.fail(o.regs.Write(uint32(o.addr), o.line.own[:o.line.n]))
	c.free(o.line)
	return over
}

// refused reports whether registers are full; if so, they report room to the core later.
func (c *Core) refused(regs Registers) bool {
	h, ok := regs.(Holder)
	if !ok || !h.Full() {
		return false
	}
	if !slices.Contains(c.known, h) {
		c.known = append(c.known, h)
		h.OnRoom(c.work)
	}
	return true
}

// readReg reads a register, and waits for it.
func (c *Core) readReg(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return waits
		}
		if c.refused(o.regs) {
			return waits
		}
		o.begun = true
		c.stats.RegReads++
		if err := o.regs.Read(uint32(o.addr), o.n, c.regDone); err != nil {
			c.reg = regRead{true, 0, err}
		}
	}
	if !c.reg.ended {
		return waits
	}
	return over
}

func (c *Core) readDone(v uint64, err error) {
	c.reg = regRead{true, v, err}
	c.work()
}
