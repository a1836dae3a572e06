package transport

import (
	"nictwin/models/sim/fifo"
	"nictwin/stack/verbs"
)

// recv is a posted receive request.
type recv struct {
	id    uint64
	spans []Span
	total uint64
}

// RecvQueue holds receive requests of one connection, or shared by several.
type RecvQueue struct {
	q           fifo.Queue[*recv]
	spare       []*recv
	max, maxSGE int
	limit       int // onLimit is called when fewer requests than this wait; 0: never called
	onLimit     func()
}

// NewRecvQueue returns a queue of at most n requests of at most sge spans.
func NewRecvQueue(n, sge int) *RecvQueue { return &RecvQueue{max: n, maxSGE: sge} }

// Len returns the number of waiting requests.
func (q *RecvQueue) Len() int { return q.q.Len() }

// OnLimit makes the queue call f once when fewer than n requests wait (SRQ_LIMIT); n = 0 cancels it. f must not call a
// connection.
func (q *RecvQueue) OnLimit(n int, f func()) { q.limit, q.onLimit = n, f }

// Post queues a request.
func (q *RecvQueue) Post(r *Recv) error {
	switch {
	case q.q.Len() >= q.max:
		return ErrFull
	case len(r.Spans) > q.maxSGE:
		return ErrSpans
	}
	var x *recv
	if n := len(q.spare); n > 0 {
		x, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		x = new(recv)
	}
	*x = recv{id: r.ID, spans: append(x.spans[:0], r.Spans...)}
	for i := range r.Spans {
		x.total += uint64(r.Spans[i].Len)
	}
	q.q.Push(x)
	return nil
}

// take removes the oldest receive request, or returns nil. It reports when the queue runs low.
func (q *RecvQueue) take() *recv {
	if q.q.Len() == 0 {
		return nil
	}
	r := q.q.Pop()
	if q.q.Len() < q.limit {
		q.limit = 0
		q.onLimit()
	}
	return r
}

func (q *RecvQueue) free(r *recv) { q.spare = append(q.spare, r) }

// doneRecv is a receive completion to report once all copies with numbers below field `after` have ended.
type doneRecv struct {
	Completion
	after uint64
}

// PostRecv queues a receive request.
func (b *base) PostRecv(r *Recv) error {
	if b.state == verbs.QPSReset || b.shared {
		return ErrState
	}
	if err := b.rq.Post(r); err != nil {
		return err
	}
	if b.state == verbs.QPSErr {
		b.flushRecvs()
	}
	return nil
}

// endRecv completes a receive request once everything placed so far is in memory, or will be before the completion is.
func (b *base) endRecv(r *recv, c Completion) {
	c.ID, c.Recv = r.id, true
	b.rq.free(r)
	b.done.Push(doneRecv{Completion: c, after: b.visible})
	b.endRecvs()
}

func (b *base) endRecvs() {
	for b.done.Len() > 0 && b.placed.Before(b.done.Front().after) {
		b.wc = b.done.Pop().Completion
		b.env.Complete(&b.wc)
	}
}

// failRecv fails the receive request of the message being received, if it has one.
func (b *base) failRecv(status verbs.Status) {
	if r := b.in.recv; r != nil {
		b.endRecv(r, Completion{Status: status})
	}
	b.in = inbound{}
}

// flushRecvs flushes all receive requests.
func (b *base) flushRecvs() {
	b.failRecv(verbs.WCFlushErr)
	for !b.shared && b.rq.Len() > 0 {
		b.endRecv(b.rq.take(), Completion{Status: verbs.WCFlushErr})
	}
	if b.shared && !b.lastWQESeen {
		b.lastWQESeen = true
		b.env.Async(EventLastWQE)
	}
}

// landedToken and placedToken return the token of copy n of base.landed and base.placed: bit 0 tells them apart.
func landedToken(n uint64) Token { return Token(n+1) << 1 }
func placedToken(n uint64) Token { return Token(n+1)<<1 | 1 }

// place copies a payload to the destinations in b.parts. It drops a packet without payload.
func (b *base) place(p *Packet) {
	if p.Payload == 0 {
		b.env.Drop(p.Handle)
		return
	}
	n := b.placed.Open()
	if !b.env.Place(p.Handle, b.parts, placedToken(n)) {
		b.visible = n + 1
	}
}

// scatter sets b.parts to the destinations of n payload bytes at offset off of a list of spans.
func (b *base) scatter(spans []Span, off uint32, n int) {
	b.parts = b.parts[:0]
	at := 0
	for _, s := range spans {
		if n == at {
			return
		}
		if off >= s.Len {
			off -= s.Len
			continue
		}
		k := min(int(s.Len-off), n-at)
		b.parts = append(b.parts, Part{Off: at, To: Span{Addr: s.Addr + uint64(off), Len: uint32(k), Key: s.Key}})
		at += k
		off = 0
	}
}

// gather appends to `to` the n bytes that begin at offset `off` of the memory in `spans`.
func gather(to, spans []Span, off uint32, n int) []Span {
	for _, s := range spans {
		if n == 0 {
			break
		}
		if off >= s.Len {
			off -= s.Len
			continue
		}
		k := min(int(s.Len-off), n)
		to = append(to, Span{Addr: s.Addr + uint64(off), Len: uint32(k), Key: s.Key})
		n -= k
		off = 0
	}
	return to
}
