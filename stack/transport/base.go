package transport

import (
	"nictwin/models/sim/fifo"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// base is the state common to all transports: states, queues and completions.
type base struct {
	spec  Spec
	env   Env
	pacer Pacer
	state verbs.State
	attr  Attr
	ah    AH
	spray int
	stats Stats

	sq     fifo.Queue[*request]
	ended  uint64 // number of requests that have left sq, hence also the number of the oldest one in sq
	spare  []*request
	landed seq.Order // copies for this end's own requests: READ responses; with UC and UD, the NIC's reads of packets

	rq          *RecvQueue
	shared      bool
	done        fifo.Queue[doneRecv]
	in          inbound
	lastWQESeen bool      // EventLastWQE was reported
	placed      seq.Order // copies for the peer's requests, which place what arrives
	visible     uint64    // copies in placed below this number must end before a receive request completes

	parts  []Part
	wc     Completion // the completion being reported
	paceAt Ps         // time at which to ask the pacer again
	cnpDue bool       // a CNP is due, to tell the peer about marked packets

	sending uint64 // UC, UD: number of the request being sent
	drained bool   // EventSQDrained was reported in this SQD
}

// request is a posted send request.
type request struct {
	Send
	spans  []Span
	inline []byte
	length uint32
	first  uint32 // first PSN, set when the request is started
	n      uint32 // number of PSNs, set when the request is started
	from   uint32 // once started: first PSN of the request or, after cut began a piece of it, of the latest piece
	piece  uint32 // READ: number of PSNs of the piece in flight, which may reach beyond the request's end
	done   bool   // completes once all copies with numbers below field `after` have ended
	status verbs.Status
	after  uint64
	blocks uint32 // Solar: blocks that have not ended
}

// returns reports whether the peer answers with data.
func (r *request) returns() bool { return r.Op == verbs.WRRead || r.Op.IsAtomic() }

// Post queues a send request, unless it is invalid or the queue is full.
func (b *base) Post(_ Ps, s *Send) error {
	length, err := b.check(s)
	if err != nil {
		return err
	}
	var r *request
	if n := len(b.spare); n > 0 {
		r, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		r = new(request)
	}
	*r = request{Send: *s, spans: append(r.spans[:0], s.Spans...), inline: append(r.inline[:0], s.Inline...),
		length: length}
	r.Spans, r.Inline = nil, nil
	b.sq.Push(r)
	r.status = s.Status
	if b.state == verbs.QPSErr || b.state == verbs.QPSSQE {
		b.flushSends()
	}
	return nil
}

// check returns the length of a request, or the reason for refusing it.
func (b *base) check(s *Send) (uint32, error) {
	switch b.state {
	case verbs.QPSRTS, verbs.QPSSQD, verbs.QPSSQE, verbs.QPSErr:
	default:
		return 0, ErrState
	}
	length, inline := uint64(len(s.Inline)), s.Flags&verbs.SendInline != 0
	for i := range s.Spans {
		length += uint64(s.Spans[i].Len)
	}
	returns := s.Op == verbs.WRRead || s.Op.IsAtomic()
	switch {
	case !b.spec.Kind.allows(s.Op):
		return 0, ErrOpcode
	case b.sq.Len() >= b.spec.MaxSend:
		return 0, ErrFull
	case s.Status != verbs.WCSuccess:
		return 0, nil
	case len(s.Spans) > b.spec.MaxSGE:
		return 0, ErrSpans
	case len(s.Inline) > b.spec.MaxInline, inline && (returns || len(s.Spans) > 0), !inline && len(s.Inline) > 0:
		return 0, ErrInline
	case length > maxMessage, b.attr.MTU != 0 && length > maxPackets*uint64(b.attr.MTU), s.Op.IsAtomic() &&
		(length != 8 || len(s.Spans) != 1):
		return 0, ErrLength
	case b.spec.Kind == UD && s.AH == nil:
		return 0, ErrAH
	}
	return uint32(length), nil
}

// allows reports whether the service knows an operation.
func (k Kind) allows(o verbs.Opcode) bool {
	switch k {
	case UC:
		return verbs.QPTUC.Allows(o)
	case UD:
		return verbs.QPTUD.Allows(o)
	case Solar:
		return o == verbs.WRWrite || o == verbs.WRRead
	}
	return verbs.QPTRC.Allows(o)
}

// request returns the posted request with number n, or nil.
func (b *base) request(n uint64) *request {
	if i := n - b.ended; i < uint64(b.sq.Len()) {
		return *b.sq.At(int(i))
	}
	return nil
}

// posted returns the number that the next posted request will get.
func (b *base) posted() uint64 { return b.ended + uint64(b.sq.Len()) }

// endSends completes finished requests, oldest first, up to the first unfinished one.
func (b *base) endSends() {
	for b.sq.Len() > 0 {
		r := *b.sq.Front()
		if !r.done || !b.landed.Before(r.after) {
			return
		}
		b.sq.Pop()
		b.ended++
		b.completeSend(r)
	}
}

// completeSend reports the end of a request: if it was signaled, or has failed.
func (b *base) completeSend(r *request) {
	if r.status != verbs.WCSuccess || r.Flags&verbs.SendSignaled != 0 {
		b.wc = Completion{ID: r.ID, Status: r.status, Opcode: r.Op.Completion()}
		if r.returns() && r.status == verbs.WCSuccess {
			b.wc.ByteLen = r.length
		}
		b.env.Complete(&b.wc)
	}
	r.AH = nil
	b.spare = append(b.spare, r)
}

// failInTurn fails a request that its caller marked as faulty, once the requests before it have ended.
func (b *base) failInTurn(r *request) {
	r.done, r.after = true, b.landed.Next()
	b.state = verbs.QPSSQE
	b.flushSends()
}

// flushSends flushes all requests that have not ended, once the copies in flight have ended.
func (b *base) flushSends() {
	for i := range b.sq.Len() {
		if r := *b.sq.At(i); !r.done {
			r.done, r.status, r.after = true, verbs.WCFlushErr, b.landed.Next()
		}
	}
	b.endSends()
}

// drain reports EventSQDrained, a single time, if the state is SQD and nothing is in flight (idle).
func (b *base) drain(idle bool) {
	if idle && b.state == verbs.QPSSQD && !b.drained {
		b.drained = true
		b.env.Async(EventSQDrained)
	}
}

// SetRights sets what the peer may do.
func (b *base) SetRights(access verbs.Access, qkey uint32) { b.spec.Access, b.spec.QKey = access, qkey }

// State returns the state of the queue pair.
func (b *base) State() verbs.State { return b.state }

// Stats returns the connection's counters.
func (b *base) Stats() Stats { return b.stats }

// ignore drops a packet silently.
func (b *base) ignore(p *Packet) {
	b.stats.Ignored++
	b.env.Drop(p.Handle)
}
