package cpu

import (
	"slices"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// op is one operation recorded by software.
type op struct {
	kind     opKind
	as       Activity // of an opSpend: activity of the time spent, and of the operations that follow
	maintain mem.Op
	begun    bool
	time     simcore.Ps
	addr     uint64
	n        int   // bytes still to do
	line     *line // bytes of a store, a copy or a register write
	regs     Registers
	lock     Lock
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
	opAcquire
	opCall
)

// progress tells how to continue after a replay step of an op.
type progress uint8

const (
	finished    progress = iota // continue with the next op
	resumeAtDue                 // continue with this op at the time Core.due
	blocked                     // continue with this op when Core.work is called: an access ended, or there is room
)

// regRead is the result of the register read that the core waits for; of a lock, only whether the core has it.
type regRead struct {
	ended bool
	v     uint64
	err   error
}

// work replays the record until the core must wait or compute.
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
		case blocked:
			c.startWait(now)
			return
		case resumeAtDue:
			c.endWait(now)
		case finished:
			c.endWait(now)
			c.end()
		}
	}
}

// startWait and endWait measure how long the core waits.
func (c *Core) startWait(now simcore.Ps) {
	if c.since == never {
		c.since = now
	}
}

func (c *Core) endWait(now simcore.Ps) {
	if c.since != never {
		c.stats.Waited += now - c.since
		c.since = never
	}
}

// end removes a finished op from the record, and calls its callback.
func (c *Core) end() {
	o := c.ops.Pop()
	switch o.kind {
	case opCall:
		o.call()
	case opReadReg:
		r := c.reg
		c.reg = regRead{}
		o.done(r.v, r.err)
	case opAcquire:
		c.reg = regRead{}
	}
}

// do carries out an op, or the next part of it.
func (c *Core) do(o *op) progress {
	switch o.kind {
	case opSpend:
		c.profile.turn(o.as, c.due)
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
			return blocked
		}
	case opPost:
		return c.post(o)
	case opReadReg:
		return c.readReg(o)
	case opAcquire:
		return c.acquire(o)
	}
	return finished
}

// fetch issues an op's loads; at most Misses are in flight. wait is set if the core waits for them.
func (c *Core) fetch(o *op, wait bool) progress {
	for o.n > 0 {
		if c.misses == c.spec.Misses {
			return blocked
		}
		n := min(o.n, lineBytes-int(o.addr%lineBytes))
		addr := o.addr
		o.addr, o.n = o.addr+uint64(n), o.n-n
		c.stats.Loads++
		c.stats.LoadBytes += uint64(n)
		c.load(addr, n, nil, wait)
	}
	if wait && c.awaited > 0 {
		return blocked
	}
	return finished
}

// issueStores issues a store. Stores behind it that continue it line by line are issued with it, as one run.
func (c *Core) issueStores(o *op) progress {
	if c.copying > 0 || c.storing == c.spec.Stores {
		return blocked
	}
	if n := c.consecutive(c.spec.Stores - c.storing); n > 1 {
		c.issueRun(n)
		return finished
	}
	c.stats.Stores++
	c.stats.StoreBytes += uint64(o.line.n)
	c.issue(o.line)
	return finished
}

// copyLine begins to copy a line by loading it; method `done` issues the store.
func (c *Core) copyLine(o *op) progress {
	if c.misses == c.spec.Misses {
		return blocked
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
	return finished
}

// drained reports whether all earlier stores have taken effect.
func (c *Core) drained() bool { return c.storing == 0 && c.copying == 0 }

// maintainLines issues a Clean or Invalidate, and waits for it.
func (c *Core) maintainLines(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return blocked
		}
		o.begun = true
		s := c.newLine()
		s.access.Op, s.access.Addr, s.access.Span = o.maintain, o.addr, o.n
		s.use, s.wait = useMaintain, true
		c.awaited++
		c.memory.Access(&s.access)
	}
	if c.awaited > 0 {
		return blocked
	}
	return finished
}

// post spends the time of a register write, and then sends it.
func (c *Core) post(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return blocked
		}
		o.begun = true
		c.due += c.spec.MMIOPost
		c.stats.Waited += c.spec.MMIOPost
		if c.spec.MMIOPost > 0 {
			return resumeAtDue
		}
	}
	if c.refused(o.regs) {
		return blocked
	}
	c.stats.Posts++
	c.fail(o.regs.Write(uint32(o.addr), o.line.own[:o.line.n]))
	c.free(o.line)
	return finished
}

// refused reports whether registers are full. If so, they will call Core.work once they have room (OnRoom).
func (c *Core) refused(regs Registers) bool {
	h, ok := regs.(Holder)
	if !ok || !h.Full() {
		return false
	}
	if !slices.Contains(c.roomSources, h) {
		c.roomSources = append(c.roomSources, h)
		h.OnRoom(c.work)
	}
	return true
}

// readReg issues a register read, and waits for it.
func (c *Core) readReg(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return blocked
		}
		if c.refused(o.regs) {
			return blocked
		}
		o.begun = true
		c.stats.RegReads++
		if err := o.regs.Read(uint32(o.addr), o.n, c.regDone); err != nil {
			c.reg = regRead{true, 0, err}
		}
	}
	if !c.reg.ended {
		return blocked
	}
	return finished
}

// acquire asks for a lock, and waits for it.
func (c *Core) acquire(o *op) progress {
	if !o.begun {
		if !c.drained() {
			return blocked
		}
		o.begun = true
		o.lock.Take(c.granted)
	}
	if !c.reg.ended {
		return blocked
	}
	return finished
}

func (c *Core) readDone(v uint64, err error) {
	c.reg = regRead{true, v, err}
	c.work()
}
