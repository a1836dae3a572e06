package library

import (
	"errors"

	"nictwin/models/server/cpu"
	"nictwin/stack/flexins/mailbox"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// unmapped is a card address that no shadow region has. It stands for memory that a request must not name.
const unmapped = 0

// cardSpan returns the card's address for a piece of memory: unmapped if the queue pairs of the protection domain must
// not name it. The card checks rights.
func (c *Context) cardSpan(pd verbs.PD, s *verbs.SGE) pipe.Span {
	x := pipe.Span{Addr: unmapped, Bytes: s.Length}
	r, ok := c.regions[s.LKey]
	if ok && r.PD == pd && s.Addr >= r.Addr && uint64(s.Length) <= r.Length &&
		s.Addr-r.Addr <= r.Length-uint64(s.Length) {
		x.Addr = r.arm + (s.Addr - r.Addr)
	}
	return x
}

// PostSend implements verbs.QP.
func (q *QP) PostSend(wrs []verbs.SendWR) (n int, err error) {
	for n = range wrs {
		if err := q.postSend(&wrs[n]); err != nil {
			return n, err
		}
	}
	return len(wrs), nil
}

// postSend checks a request and pushes its element into the pipe.
func (q *QP) postSend(w *verbs.SendWR) error {
	c := q.c
	if q.sends.Len() >= q.queues.Cap.MaxSendWR {
		q.send.pull() // polling makes room in the send queue
	}
	q.queues.SendUsed = q.sends.Len()
	if err := q.queues.CheckSend(w); err != nil {
		return err
	}
	if err := c.failure(); err != nil {
		return verbs.Errorf("post_send", verbs.EIO, "%v", err)
	}
	e := &c.element
	*e = pipe.SendElement{
		Opcode: w.Opcode, Flags: w.Flags, QPN: q.number, ID: q.first + uint64(q.sends.Len()), Imm: w.Imm, RKey: w.RKey,
		RemoteAddr: w.RemoteAddr,
		CompareAdd: w.CompareAdd, Swap: w.Swap, Spans: e.Spans[:0], Inline: nil,
	}
	if w.Opcode == verbs.WRSendInv || w.Opcode == verbs.WRLocalInv {
		e.Imm = w.InvKey
	}
	if q.init.Type == verbs.QPTUD {
		e.Datagram, e.QKey, e.DestQPN, e.AH = true, w.RemoteQKey, w.RemoteQPN, uint32(w.AH)
	}
	if q.init.LowLatency > 0 && w.Flags&verbs.SendInline == 0 {
		bytes, ok, err := q.gather(w)
		if err != nil {
			return err
		}
		if ok {
			e.Flags, e.Inline = e.Flags|verbs.SendInline, bytes
			return q.push(e, w.ID)
		}
	}
	switch {
	case w.Opcode.IsLocal(): // no memory
	case w.Flags&verbs.SendInline != 0:
		e.Inline = w.Inline
	case w.Opcode.IsAtomic():
		q.atomic(e, w)
	default:
		for i := range w.SGEs {
			if w.SGEs[i].Length > 0 {
				e.Spans = append(e.Spans, c.cardSpan(q.pd, &w.SGEs[i]))
			}
		}
	}
	return q.push(e, w.ID)
}

// atomic adds the 8 bytes of memory that an atomic names. The element has room for one span: if the request's memory is
// not one piece of 8 B, the span gets an address with which the card fails the request.
func (q *QP) atomic(e *pipe.SendElement, w *verbs.SendWR) {
	at := pipe.Span{Addr: unmapped, Bytes: 8}
	if len(w.SGEs) == 1 && w.SGEs[0].Length == 8 {
		at = q.c.cardSpan(q.pd, &w.SGEs[0])
	} else if w.Length() != 8 {
		at.Addr = wrongLength
	}
	e.Spans = append(e.Spans, at)
}

// wrongLength is written in place of the address if an atomic's pieces are not 8 B in all. The card then reports a
// length error rather than a protection error.
const wrongLength = pipe.WrongLength

// push puts an element into the pipe of the queue pair's core.
func (q *QP) push(e *pipe.SendElement, id uint64) error {
	c := q.c
	c.core.ComputeAs(cpu.Post, c.cfg.Spec.Post)
	b, err := e.Encode(c.encoded[:])
	if err == nil {
		err = c.cfg.SQ[q.core].Push(b)
	}
	switch {
	case errors.Is(err, verbs.ENOMEM):
		return verbs.ErrSendFull
	case err != nil:
		return verbs.Errorf("post_send", verbs.EIO, "%v", err)
	}
	c.posted[q.core].Sends++
	q.sends.Push(id)
	if q.init.LowLatency > 0 { // FN 3.4: at once
		c.fail(c.cfg.SQ[q.core].Flush())
		return nil
	}
	c.unsent[q.core] = true
	c.sendLeftover.Wake()
	return nil
}

// PostRecv implements verbs.QP.
func (q *QP) PostRecv(wrs []verbs.RecvWR) (n int, err error) {
	for n = range wrs {
		if len(q.recvs.ids) >= q.queues.Cap.MaxRecvWR {
			q.recv.pull()
		}
		q.queues.RecvUsed = len(q.recvs.ids)
		if err := q.queues.CheckRecv(&wrs[n]); err != nil {
			return n, err
		}
		if q.init.LowLatency > 0 {
			if err := q.mayReceive(&wrs[n]); err != nil {
				return n, err
			}
		}
		if err := q.c.postRecv(q.pd, q.number, q.core, &wrs[n]); err != nil {
			return n, err
		}
		q.recvs.add(wrs[n].ID)
	}
	return len(wrs), nil
}

// PostRecv implements verbs.SRQ.
func (s *SRQ) PostRecv(wrs []verbs.RecvWR) (n int, err error) {
	for n = range wrs {
		w := &wrs[n]
		switch {
		case s.gone:
			return n, verbs.Errorf("post_srq_recv", verbs.EINVAL, "the queue was destroyed")
		case len(w.SGEs) > s.attr.MaxSGE:
			return n, verbs.Errorf("post_srq_recv", verbs.EINVAL, "%d pieces of memory: the queue was created with %d",
				len(w.SGEs), s.attr.MaxSGE)
		case len(s.recvs.ids) >= s.attr.MaxWR:
			return n, verbs.ErrRecvFull
		}
		if err := s.c.postRecv(s.pd, s.number, int(s.number&s.c.kernel.Mask()), w); err != nil {
			return n, err
		}
		s.recvs.add(w.ID)
	}
	return len(wrs), nil
}

// postRecv packs a receive request; entries that do not fill a line are sent at the core's next poll.
func (c *Context) postRecv(pd verbs.PD, number uint32, core int, w *verbs.RecvWR) error {
	if err := c.failure(); err != nil {
		return verbs.Errorf("post_recv", verbs.EIO, "%v", err)
	}
	c.pieces = c.pieces[:0]
	for i := range w.SGEs {
		if w.SGEs[i].Length > 0 {
			c.pieces = append(c.pieces, c.cardSpan(pd, &w.SGEs[i]))
		}
	}
	c.core.ComputeAs(cpu.Post, c.cfg.Spec.Post)
	err := c.packers[core].Push(number, c.pieces)
	switch {
	case errors.Is(err, verbs.ENOMEM):
		return verbs.ErrRecvFull
	case err != nil:
		return verbs.Errorf("post_recv", verbs.EIO, "%v", err)
	}
	c.posted[core].Recvs++
	c.sendLeftover.Wake()
	return nil
}

// askAfter sends r as method `ask` does, for verbs that the card carries out only once a data core has taken all work
// requests posted earlier.
func (c *Context) askAfter(core int, r *mailbox.Request, done func(*mailbox.Reply)) {
	c.flush()
	r.Sends, r.Recvs = c.posted[core].Sends, c.posted[core].Recvs
	c.ask(r, done)
}

// flush sends the send elements that were collected, and receive entries that do not fill a line.
func (c *Context) flush() bool {
	for core, unsent := range c.unsent {
		if unsent {
			c.unsent[core] = false
			c.fail(c.cfg.SQ[core].Flush())
		}
	}
	for _, p := range c.packers {
		if p.Waiting() == 0 {
			continue
		}
		if err := p.Flush(); errors.Is(err, verbs.ENOMEM) {
			c.sendLeftover.WakeAt(c.core.Now() + retry)
		} else {
			c.fail(err)
		}
	}
	return false
}

var (
	_ verbs.QP  = (*QP)(nil)
	_ verbs.SRQ = (*SRQ)(nil)
)
