package data

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// raw is a queue pair of raw Ethernet frames: each send request is a complete frame. It receives the frames of its port
// that are not RoCE packets.
type raw struct {
	q     *qp
	state verbs.State
	sends fifo.Queue[*rawSend] // oldest first; the NIC has the first ones, as many as field `begun` says
	begun int                  // number of frames given to the NIC
	recvs fifo.Queue[transport.Recv]
}

// rawSend is a frame to send.
type rawSend struct {
	transport.Send
	inline []byte
	length uint64
}

func newRaw(q *qp) *raw { return &raw{q: q} }

// change sets the state. From INIT on, the queue pair owns the frames of its port.
func (r *raw) change(x Change) error {
	raws := r.q.core.raws
	if other := raws[x.Port]; x.To == verbs.QPSInit && other != nil && other != r.q {
		return fmt.Errorf("data: queue pair %#x of raw packets: port %d is that of queue pair %#x: want another",
			r.q.config.QPN, x.Port, other.config.QPN)
	}
	r.state = x.To
	switch x.To {
	case verbs.QPSInit:
		r.q.port = x.Port
		raws[x.Port] = r.q
	case verbs.QPSReset:
		for r.sends.Len() > r.begun {
			r.sends.PopLast()
		}
		r.recvs = fifo.Queue[transport.Recv]{}
	case verbs.QPSErr:
		r.flush()
	}
	return nil
}

// PostRecv queues a receive request.
func (r *raw) PostRecv(x *transport.Recv) error {
	if r.recvs.Len() >= r.q.config.Cap.MaxRecvWR {
		return transport.ErrFull
	}
	r.recvs.Push(transport.Recv{ID: x.ID, Spans: append([]transport.Span(nil), x.Spans...)})
	if r.state == verbs.QPSErr {
		r.flush()
	}
	return nil
}

// flush flushes the requests that are not with the NIC; in SQE only send requests.
func (r *raw) flush() {
	for r.sends.Len() > r.begun && r.begun == 0 {
		r.q.Complete(&transport.Completion{ID: r.sends.Pop().ID, Status: verbs.WCFlushErr})
	}
	for r.state == verbs.QPSErr && r.recvs.Len() > 0 {
		x := r.recvs.Pop()
		r.q.Complete(&transport.Completion{ID: x.ID, Status: verbs.WCFlushErr, Recv: true})
	}
}

// postRaw queues a frame.
func (q *qp) postRaw(e *pipe.SendElement) error {
	r := q.raw
	if r.sends.Len() >= q.config.Cap.MaxSendWR {
		return transport.ErrFull
	}
	s := &rawSend{Send: transport.Send{ID: e.ID, Op: e.Opcode, Flags: e.Flags},
		inline: append([]byte(nil), e.Inline...), length: e.Bytes()}
	if q.config.SignalAll {
		s.Flags |= verbs.SendSignaled
	}
	q.translate(e, &s.Send)
	if s.length > nicspec.FrameMax || s.length == 0 {
		s.Status = verbs.WCLocLenErr
	}
	r.sends.Push(s)
	if r.state == verbs.QPSErr || r.state == verbs.QPSSQE {
		r.flush()
	}
	q.core.wake(q)
	return nil
}

// sendRaw posts the next frame; it returns false if none may leave.
func (q *qp) sendRaw(s *sender) bool {
	r, c := q.raw, q.core
	if r.begun == r.sends.Len() || r.state != verbs.QPSRTS {
		return false
	}
	x := *r.sends.At(r.begun)
	for _, sp := range x.Spans {
		if _, ok := q.memory(sp); !ok {
			x.Status = verbs.WCLocProtErr
		}
	}
	if x.Status != verbs.WCSuccess {
		if r.begun > 0 {
			return false // earlier frames must end first
		}
		r.state = verbs.QPSSQE
		q.Complete(&transport.Completion{ID: r.sends.Pop().ID, Status: x.Status})
		r.flush()
		return true
	}
	c.cpu.ComputeAs(cpu.Build, c.spec.Build)
	r.begun++
	p := c.staging.take()
	p.raw, p.out.Spans, p.out.Inline = true, append(p.out.Spans[:0], x.Spans...), x.inline
	c.staging.send(s, q, p)
	return true
}

// sendRaw posts a frame that has been built.
func (s *sender) sendRaw(q *qp, p *staged) {
	c := s.c
	pieces := s.entry.Pieces[:0]
	s.entry.Inline = nil
	if len(p.out.Inline) > 0 {
		slot := s.slots + uint64(int(s.Next())&(s.Size()-1))*uint64(len(c.slot))
		c.fail(c.cpu.Store(slot, p.out.Inline))
		pieces = append(pieces, c.span(slot, len(p.out.Inline)))
	}
	f := frame{q: q, token: 1}
	if p.place != nil {
		f.staged = p
	}
	var ok bool
	if s.entry.Pieces, ok = q.payload(pieces, p); !ok {
		s.post(f, &driver.Nop{Order: driver.Order{Complete: true}})
		return
	}
	s.entry.Offloads, s.entry.Complete = driver.Offloads{}, true
	s.sinceSignal = 0
	c.stats.Sent++
	s.post(f, &s.entry)
}

// sent completes the oldest frame.
func (r *raw) sent(transport.Token) {
	x := r.sends.Pop()
	r.begun--
	if x.Flags&verbs.SendSignaled != 0 && r.state != verbs.QPSReset {
		r.q.Complete(&transport.Completion{ID: x.ID, Opcode: verbs.WCSend})
	}
	if r.state == verbs.QPSErr || r.state == verbs.QPSSQE {
		r.flush()
	}
}

// receivedRaw gives a frame that is not RoCE to the queue pair of its port.
func (c *core) receivedRaw(h transport.Handle, f *driver.RxFrame) {
	q := c.raws[int(f.Cqe.Port())]
	n := uint32(f.HdrLen + f.PayLen)
	if q == nil || q.raw.state < verbs.QPSRTR || q.raw.state == verbs.QPSErr || q.raw.recvs.Len() == 0 {
		c.stats.Stray++
		c.drop(h)
		return
	}
	r := q.raw
	x := r.recvs.Pop()
	room, allowed := uint32(0), true
	for _, s := range x.Spans {
		room += s.Len
		allowed = allowed && q.CheckLocal(s)
	}
	if n > room || !allowed {
		w := transport.Completion{ID: x.ID, Status: verbs.WCLocLenErr, Recv: true}
		if n <= room {
			w.Status = verbs.WCLocProtErr
		}
		q.Complete(&w)
		r.state = verbs.QPSErr
		r.flush()
		c.drop(h)
		return
	}
	c.stats.Received++
	c.scatterRaw(q, h, f, &x, n)
}

// scatterRaw copies a frame to a receive request: first its header buffer, then its payload buffer.
func (c *core) scatterRaw(q *qp, h transport.Handle, f *driver.RxFrame, x *transport.Recv, n uint32) {
	p := &c.packets.all[h]
	p.dropped = true
	w := transport.Completion{ID: x.ID, Opcode: verbs.WCRecv, Recv: true, ByteLen: n}
	pendingBytes := n
	end := func(took uint32) func(error) {
		return func(err error) {
			if err != nil {
				w.Status = verbs.WCGeneralErr
			}
			if pendingBytes -= took; pendingBytes == 0 {
				q.raw.ended(&w, c.fences)
			}
		}
	}
	p.copies++ // one more, so that the packet stays in use until all copies have been requested
	at := uint32(0)
	for _, s := range x.Spans {
		for s.Len > 0 && at < n {
			src, k := f.Hdr+uint64(at), uint32(f.HdrLen)-min(at, uint32(f.HdrLen))
			if k == 0 {
				src, k = f.Pay+uint64(at)-uint64(f.HdrLen), n-at
			}
			k = min(k, s.Len)
			j := job{src: c.span(src, int(k)), packet: int32(h) + 1, q: q, then: end(k)}
			j.dst, _ = q.memory(transport.Span{Addr: s.Addr, Len: k, Key: s.Key}) // checked by receivedRaw
			c.packets.all[h].copies++
			c.copies.add(j)
			at, s.Addr, s.Len = at+k, s.Addr+uint64(k), s.Len-k
		}
	}
	if c.fences {
		q.Complete(&transport.Completion{ID: w.ID, Opcode: w.Opcode, Recv: true, ByteLen: n})
	}
	c.copied(h)
}

// ended handles the end of a received frame's copies. If its completion was posted together with them, a failed copy
// moves the queue pair to ERR instead. A RESET has discarded the request.
func (r *raw) ended(w *transport.Completion, completed bool) {
	switch {
	case r.state == verbs.QPSReset:
	case !completed:
		r.q.Complete(w)
	case w.Status != verbs.WCSuccess && r.state != verbs.QPSErr:
		r.state = verbs.QPSErr
		r.q.Async(transport.EventQPFatal)
		r.flush()
	}
}
