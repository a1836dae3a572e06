package data

import (
	"encoding/binary"
	"errors"

	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// atomic is an operation on 8 bytes of host memory, which it reads with one copy and writes with another. Operations on
// one address are carried out one after the other, across all cores.
type atomic struct {
	q                *qp
	op               verbs.Opcode
	at               transport.Span
	swapAdd, compare uint64
	token            transport.Token
	line             uint64
	before           uint64
}

var errGone = errors.New("its region was deregistered")

// Atomic implements transport.Env.
func (q *qp) Atomic(op verbs.Opcode, key uint32, addr, swapAdd, compare uint64, t transport.Token) {
	a := &atomic{q: q, op: op, at: transport.Span{Addr: addr, Len: 8, Key: key}, swapAdd: swapAdd, compare: compare,
		token: t}
	q.copies++
	card := q.core.card
	card.locks[addr] = append(card.locks[addr], a)
	if len(card.locks[addr]) == 1 {
		a.begin()
	}
}

// begin copies the 8 bytes from host memory to a staging line.
func (a *atomic) begin() {
	c := a.q.core
	c.copies.withLine(func(at uint64) {
		a.line = at
		src, ok := a.q.memory(a.at)
		if !ok {
			a.end(errGone)
			return
		}
		c.copies.add(job{dst: c.span(at, 8), src: src, then: a.read})
	})
}

// read continues once the 8 bytes are in the staging line.
func (a *atomic) read(err error) {
	c := a.q.core
	var b [8]byte
	if err == nil {
		err = c.cpu.Load(a.line, b[:])
	}
	dst, ok := a.q.memory(a.at)
	if !ok && err == nil {
		err = errGone
	}
	if err != nil {
		a.end(err)
		return
	}
	a.before = binary.LittleEndian.Uint64(b[:])
	next := a.before + a.swapAdd
	if a.op == verbs.WRCmpSwap {
		if next = a.swapAdd; a.before != a.compare {
			a.end(nil)
			return
		}
	}
	binary.LittleEndian.PutUint64(b[:], next)
	c.fail(c.cpu.Store(a.line, b[:]))
	c.copies.add(job{dst: dst, src: c.span(a.line, 8), then: a.end})
}

// end reports the value, and starts the next operation on the same address.
func (a *atomic) end(err error) {
	q := a.q
	c := q.core
	c.copies.free(a.line)
	waiting := c.card.locks[a.at.Addr][1:]
	if len(waiting) == 0 {
		delete(c.card.locks, a.at.Addr)
	} else {
		c.card.locks[a.at.Addr] = waiting
		waiting[0].q.core.cpu.Call(waiting[0].begin)
	}
	status := verbs.WCSuccess
	if err != nil {
		status = verbs.WCGeneralErr
	}
	q.copies--
	q.conn.AtomicDone(c.now(), a.token, a.before, status)
	c.wake(q)
	q.destroyIfIdle()
}
