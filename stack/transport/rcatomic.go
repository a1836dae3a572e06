package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// atomic is an atomic operation that waits until all before it is in memory. It counts as a copy itself.
type atomic struct {
	psn, key         uint32
	op               verbs.Opcode
	va               uint64
	swapAdd, compare uint64
	number           uint64
	begun            bool
}

// savedAtomic is the result of an atomic, for the case that it is asked for again.
type savedAtomic struct {
	psn, msn uint32
	ready    bool
	value    uint64
}

// runAtomics begins the atomic whose turn has come.
func (c *rc) runAtomics() {
	if c.atomics.Len() == 0 {
		return
	}
	if a := c.atomics.Front(); !a.begun && c.placed.Before(a.number) {
		a.begun = true
		c.env.Atomic(a.op, a.key, a.va, a.swapAdd, a.compare, placedToken(a.number))
	}
}

// AtomicDone takes the value that an atomic found. One that was begun before a RESET is none of this connection.
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

// answerAtomic has the reply to an atomic leave.
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

// failAtomic ends the connection at the atomic that could not be carried out: what came after it is refused with it.
func (c *rc) failAtomic(status verbs.Status) {
	first := *c.atomics.Front()
	for c.replies.Len() > 0 {
		last := c.replies.At(c.replies.Len() - 1)
		if !last.again && seq.Diff(last.psn, first.psn) < 0 {
			break
		}
		if last.again {
			c.again--
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

// AtomicDone is nothing to transports that have no atomics.
func (b *base) AtomicDone(Ps, Token, uint64, verbs.Status) {}
