package rnic

import (
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
)

// sharedQueue is a shared receive queue with its ring in memory.
type sharedQueue struct {
	core.SRQ
	ring    ring
	events  *cq
	limit   int                // fewer entries than this raise EventSRQLimit; 0: none do
	waiting fifo.Queue[*qpair] // queue pairs whose next request waits for an entry that is being read
}

// left returns the number of entries that were posted and not taken.
func (s *sharedQueue) left() int { return s.ring.ahead() + s.Len() }

func (c *Comp) createSRQ(x *rnicspec.CreateSRQ) rnicspec.Refusal {
	if x.SRQN == 0 || x.SRQN >= rnicspec.MaxSRQs || c.cqs[x.Events] == nil {
		return rnicspec.RefusedNumber
	}
	if x.Log > rnicspec.MaxLogRing || x.Addr%rnicspec.RecvBytes != 0 {
		return rnicspec.RefusedValue
	}
	s := &sharedQueue{events: c.cqs[x.Events]}
	if !c.dev.AddSRQ(&s.SRQ, x.SRQN) {
		return rnicspec.RefusedNumber
	}
	s.ring = ring{addr: x.Addr, log: x.Log, entry: rnicspec.RecvBytes, shared: s}
	c.srqs[x.SRQN] = s
	return rnicspec.Done
}

func (c *Comp) modifySRQ(x *rnicspec.ModifySRQ) rnicspec.Refusal {
	s := c.srqs[x.SRQN]
	switch {
	case s == nil:
		return rnicspec.RefusedNumber
	case x.Limit > 1<<s.ring.log:
		return rnicspec.RefusedValue
	}
	s.limit = int(x.Limit)
	c.checkLimit(s)
	return rnicspec.Done
}

func (c *Comp) destroySRQ(n uint32) rnicspec.Refusal {
	s := c.srqs[n]
	switch {
	case s == nil:
		return rnicspec.RefusedNumber
	case s.ring.fetches.Len() > 0 || !c.dev.RemoveSRQ(&s.SRQ):
		return rnicspec.RefusedState
	}
	delete(c.srqs, n)
	return rnicspec.Done
}

// checkLimit raises the event of a shared receive queue with fewer entries than its limit, once for each ModifySRQ
// (IBTA 10.2.9.3).
func (c *Comp) checkLimit(s *sharedQueue) {
	if s.limit > s.left() {
		s.limit = 0
		c.writeEntry(s.events, &rnicspec.CQE{Opcode: rnicspec.EventSRQLimit, ID: uint64(s.Num)})
	}
}

// lastEntry raises the event of a failed queue pair that takes no more entries from its shared queue, after its last
// completion (IBTA 11.6.3.2).
func (c *Comp) lastEntry(q *qpair) {
	if q.shared == nil || q.ended || q.unreported > 0 || q.State != rnicspec.Failed {
		return
	}
	q.ended = true
	c.writeEntry(q.shared.events, &rnicspec.CQE{Opcode: rnicspec.EventLastWQE, ID: uint64(q.shared.Num), QPN: q.Num})
}

// receiveRing returns the ring from which a queue pair gets its receive entries.
func (q *qpair) receiveRing() *ring {
	if q.shared != nil {
		return &q.shared.ring
	}
	return &q.recv
}

// awaitEntry makes a queue pair wait for the entries that its shared queue is reading.
func (q *qpair) awaitEntry() {
	if q.shared != nil && !q.waitsEntry {
		q.waitsEntry = true
		q.shared.waiting.Push(q)
	}
}

// sharedFetched posts the entries of a shared queue that have been read, in order, and lets queue pairs that wait for
// them proceed.
func (c *Comp) sharedFetched(s *sharedQueue) {
	r := &s.ring
	for r.fetches.Len() > 0 && r.fetches.Front().done {
		f := r.fetches.Pop()
		for i := range f.n {
			var w rnicspec.RecvWQE
			w.Decode(f.buf[i*r.entry:])
			s.Post(w)
		}
		c.pools.fetches = append(c.pools.fetches, f)
	}
	c.fetch(nil, r)
	for range s.waiting.Len() {
		q := s.waiting.Pop()
		q.waitsEntry = false
		c.unpark(q, request)
	}
}
