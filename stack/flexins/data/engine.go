package data

import (
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// Engine receives and sends the messages of queue pairs that are served on the card itself: received messages go to
// buffers in Arm memory instead of an application's, and sent ones come from there.
type Engine struct {
	// Key is the NIC's memory key for the engine's Arm memory.
	Key *driver.Key
	// Take takes a message of n bytes; the engine calls done, on any core, when the buffer may be reused. It returns
	// false if it has no room; Card.Offer then offers the message again.
	Take func(qpn uint32, addr uint64, n int, done func()) bool

	retry []*served // queue pairs with messages that the engine's Take refused; to be offered again
}

// served is a queue pair whose messages an Engine takes.
type served struct {
	q       *qp
	e       *Engine
	buffers []uint64
	bytes   int
	held    fifo.Queue[transport.Completion] // messages for which the engine had no room
	sends   fifo.Queue[func(error)]
}

// armKey stands for an engine's Arm memory in the spans of its queue pairs. No region has this key.
const armKey = 0

// Serve gives a queue pair to an engine, with buffers of the given number of bytes, each for one message. Only as many
// messages as there are buffers may arrive before the engine takes them; a client that sends more gets RNR NAKs. done
// is called as software of the queue pair's core, as for a control verb.
func (a *Card) Serve(qpn uint32, e *Engine, buffers []uint64, bytes int, done func(error)) {
	a.runOn(qpn, done, func(c *core) error {
		q, err := a.find(c, qpn)
		if err != nil {
			return err
		}
		if q.conn == nil || q.landing != nil || q.served != nil || len(buffers) > q.config.Cap.MaxRecvWR {
			return verbs.Errorf("serve", verbs.EINVAL, "queue pair %#x: want a connection that no engine serves and "+
				"that is no low-latency one, with %d receive requests", qpn, len(buffers))
		}
		q.served = &served{q: q, e: e, buffers: buffers, bytes: bytes}
		for i := range buffers {
			if err := q.served.post(i); err != nil {
				return fmt.Errorf("data: queue pair %#x: %w", qpn, err)
			}
		}
		c.wake(q)
		return nil
	})
}

func (s *served) post(i int) error {
	return s.q.conn.PostRecv(&transport.Recv{ID: uint64(i),
		Spans: []transport.Span{{Addr: s.buffers[i], Len: uint32(s.bytes), Key: armKey}}})
}

// Send sends n bytes of an engine's memory as a message, in the order of the calls. done is called as software of the
// queue pair's core.
func (a *Card) Send(qpn uint32, addr uint64, n int, done func(error)) {
	a.runOn(qpn, func(err error) {
		if err != nil {
			done(err)
		}
	}, func(c *core) error {
		q, err := a.find(c, qpn)
		if err != nil {
			return err
		}
		if q.served == nil {
			return verbs.Errorf("send", verbs.EINVAL, "queue pair %#x: no engine serves it", qpn)
		}
		x := transport.Send{Op: verbs.WRSend, Flags: verbs.SendSignaled,
			Spans: []transport.Span{{Addr: addr, Len: uint32(n), Key: armKey}}}
		if err := q.conn.Post(c.now(), &x); err != nil {
			return err
		}
		q.served.sends.Push(done)
		c.wake(q)
		return nil
	})
}

// Offer offers messages again for which the engine had no room.
func (a *Card) Offer(e *Engine) {
	waiting := e.retry
	e.retry = nil
	for _, s := range waiting {
		s.q.core.cpu.Call(s.offer)
	}
}

// offer gives received messages to the engine until it has no room.
func (s *served) offer() {
	for s.held.Len() > 0 {
		w := *s.held.Front()
		i := int(w.ID)
		if !s.e.Take(s.q.config.QPN, s.buffers[i], int(w.ByteLen),
			func() { s.q.core.cpu.Call(func() { s.repost(i) }) }) {
			s.e.retry = append(s.e.retry, s)
			return
		}
		s.held.Pop()
	}
}

// repost posts a free buffer again.
func (s *served) repost(i int) {
	if s.q.core.qps[s.q.config.QPN] != s.q || s.q.closing != nil || s.q.conn.State() == verbs.QPSReset {
		return
	}
	s.q.core.fail(s.post(i))
	s.q.core.wake(s.q)
}

// completed handles a completion of the queue pair.
func (s *served) completed(w *transport.Completion) {
	switch {
	case !w.Recv:
		var err error
		if w.Status != verbs.WCSuccess {
			err = fmt.Errorf("the message ended with status %v", w.Status)
		}
		s.sends.Pop()(err)
	case w.Status == verbs.WCSuccess:
		s.held.Push(*w)
		if s.held.Len() == 1 {
			s.offer()
		}
	}
}
