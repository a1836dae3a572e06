package cpu

import (
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// Registers is a device whose registers a core accesses, such as root.MMIO.
type Registers interface {
	// Write sends a posted write; b may be reused at once.
	Write(off uint32, b []byte) error
	// Read reads n bytes and calls done with the value.
	Read(off uint32, n int, done func(v uint64, err error)) error
}

// Lock is a lock of software that cores share.
type Lock interface {
	// Take calls granted when the lock is the caller's, during the call or later.
	Take(granted func())
}

// Holder is a set of Registers that can be full. A core's register access then waits for room.
type Holder interface {
	Registers
	Full() bool
	// OnRoom registers f to be called whenever the Holder stops being full.
	OnRoom(f func())
}

// Compute makes the core spend a number of cycles.
func (c *Core) Compute(cycles int64) { c.Spend(simcore.Ps(cycles) * c.spec.Period) }

// Spend makes the core spend a time.
func (c *Core) Spend(t simcore.Ps) {
	c.beginRecord()
	c.ops.Push(op{kind: opSpend, time: t})
}

// Load fills b with the bytes at addr. The core waits for the loads.
func (c *Core) Load(addr uint64, b []byte) error {
	if err := c.memory.Check(mem.Read, addr, len(b)); err != nil {
		return err
	}
	if err := c.view.Read(addr, b); err != nil {
		return err
	}
	c.forward(addr, b)
	if len(b) > 0 {
		c.beginRecord()
		c.ops.Push(op{kind: opLoad, addr: addr, n: len(b)})
	}
	return nil
}

// Prefetch makes the core load n bytes at addr without waiting for them.
func (c *Core) Prefetch(addr uint64, n int) error {
	if err := c.memory.Check(mem.Read, addr, n); err != nil {
		return err
	}
	if n > 0 {
		c.beginRecord()
		c.ops.Push(op{kind: opPrefetch, addr: addr, n: n})
	}
	return nil
}

// Store stores b at addr. b may be reused at once.
func (c *Core) Store(addr uint64, b []byte) error {
	if err := c.memory.Check(mem.Write, addr, len(b)); err != nil {
		return err
	}
	if len(b) > 0 {
		c.beginRecord()
	}
	for len(b) > 0 {
		n := min(len(b), lineBytes-int(addr%lineBytes))
		c.ops.Push(op{kind: opStore, line: c.addPending(addr, b[:n])})
		addr, b = addr+uint64(n), b[n:]
	}
	return nil
}

// Copy copies n bytes from src to dst. The ranges must not overlap.
func (c *Core) Copy(dst, src uint64, n int) error {
	if n > 0 && dst < src+uint64(n) && src < dst+uint64(n) {
		return fmt.Errorf("cpu: %s: copy of %d B from %#x to %#x: want ranges that do not overlap", c.Name(), n, src,
			dst)
	}
	if err := c.memory.Check(mem.Read, src, n); err != nil {
		return err
	}
	if err := c.memory.Check(mem.Write, dst, n); err != nil {
		return err
	}
	if n > 0 {
		c.beginRecord()
	}
	for n > 0 {
		k := min(n, lineBytes-int(dst%lineBytes))
		b := c.scratch[:k]
		if err := c.view.Read(src, b); err != nil {
			return err
		}
		c.forward(src, b)
		c.ops.Push(op{kind: opCopy, line: c.addPending(dst, b), addr: src, n: k})
		src, dst, n = src+uint64(k), dst+uint64(k), n-k
	}
	return nil
}

// Clean writes the dirty lines of the n bytes at addr back to memory.
func (c *Core) Clean(addr uint64, n int) error { return c.maintain(mem.Clean, addr, n) }

// Invalidate drops the lines of the n bytes at addr without write-back.
func (c *Core) Invalidate(addr uint64, n int) error { return c.maintain(mem.Invalidate, addr, n) }

func (c *Core) maintain(kind mem.Op, addr uint64, n int) error {
	if err := c.memory.Check(kind, addr, n); err != nil {
		return err
	}
	c.beginRecord()
	c.ops.Push(op{kind: opMaintain, maintain: kind, addr: addr, n: n})
	return nil
}

// Fence makes the core wait until all earlier stores have taken effect.
func (c *Core) Fence() {
	c.beginRecord()
	c.ops.Push(op{kind: opFence})
}

// Post writes b to a device's register space at off, as one posted write per 64 B, cut at multiples
// of 64. b may be reused at once.
func (c *Core) Post(regs Registers, off uint32, b []byte) {
	if len(b) > 0 {
		c.beginRecord()
	}
	for len(b) > 0 {
		n := min(len(b), lineBytes-int(off%lineBytes))
		s := c.newLine()
		s.n = copy(s.own[:], b[:n])
		c.ops.Push(op{kind: opPost, regs: regs, addr: uint64(off), line: s})
		off, b = off+uint32(n), b[n:]
	}
}

// ReadReg reads n bytes of a device's register space. The core stalls until the value arrives, and
// then calls done.
func (c *Core) ReadReg(regs Registers, off uint32, n int, done func(v uint64, err error)) {
	c.beginRecord()
	c.ops.Push(op{kind: opReadReg, regs: regs, addr: uint64(off), n: n, done: done})
}

// Acquire makes the core stall until it has a lock. The core asks for it when all earlier stores have taken effect, as
// atomic instructions do.
func (c *Core) Acquire(l Lock) {
	c.beginRecord()
	c.ops.Push(op{kind: opAcquire, lock: l})
}

// Call makes the core call f when everything recorded before has been replayed.
func (c *Core) Call(f func()) {
	c.beginRecord()
	c.ops.Push(op{kind: opCall, call: f})
}
