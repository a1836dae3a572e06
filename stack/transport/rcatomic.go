package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// atomic is an atomic operation that waits until everything before it is in memory. It counts as a copy, so that later
// operations wait for it.
type atomic struct {
	psn, key         uint32
	op               verbs.Opcode
	va               uint64
	swapAdd, compare uint64
	number           uint64
	begun            bool
}

// savedAtomic is the result of an atomic, saved to answer a repeated request.
type savedAtomic struct {
	psn, msn uint32
	ready    bool
	value    uint64
}

// runAtomics starts the oldest waiting atomic if everything before it is in memory.
func (c *rc) runAtomics() {
	if c.atomics.Len() == 0 {
		return
	}
	if a := c.atomics.Front(); !a.begun && c.placed.Before(a.number) {
		a.begun = true
		c.env.Atomic(a.op, a.key, a.va, a.swapAdd, a.compare, placedToken(a.number))
	}
}

// AtomicDone handles the result of an atomic. It ignores one that was started before a RESET.
func (c *rc) AtomicDone(_ Ps, t Token, before uint64, status verbs.Status) {
	if c.atomics.Len() == 0 || !c.atomics.Front().begun || placedToken(c.atomics.Front().number) != t {
		return
	}
	if status != verbs.WCSuccess {
		c.failAtomic(status)
		return
	}
	a := c.atomics.Pop()
	c.answerAtomic(a.psn, before)
	c.placed.End(a.number)
	c.endRecvs()
	c.runAtomics()
}

// answerAtomic supplies the value for the reply to an atomic, which may then leave.
func (c *rc) answerAtomic(psn uint32, v uint64) {
	for i := range c.saved.Len() {
		if s := c.saved.At(i); s.psn == psn {
			s.ready, s.value = true, v
		}
	}
	for i := range c.replies.Len() {
		if r := c.replies.At(i); r.atomic && r.psn == psn && !r.ready {
			r.ready, r.value = true, v
			return
		}
	}
}

// failAtomic ends the connection because an atomic could not be carried out. Later requests are refused, too.
func (c *rc) failAtomic(status verbs.Status) {
	first := *c.atomics.Front()
	for c.replies.Len() > 0 {
		last := c.replies.At(c.replies.Len() - 1)
		if !last.repeated && seq.Diff(last.psn, first.psn) < 0 {
			break
		}
		if last.repeated {
			c.repeats--
		} else {
			c.msn = seq.Add(last.msn, seq.Mask)
		}
		c.replies.PopLast()
	}
	c.expected = first.psn
	for c.atomics.Len() > 0 {
		c.placed.End(c.atomics.Pop().number)
	}
	if c.state != verbs.QPSErr {
		c.refuse(wire.NAKRemoteOperational, status, EventQPFatal)
	}
	c.endRecvs()
}

// AtomicDone does nothing on transports without atomics.
func (b *base) AtomicDone(Ps, Token, uint64, verbs.Status) {}
