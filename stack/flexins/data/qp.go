package data

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

const rawPacket = verbs.QPTRawPacket

// QPConfig is the fixed configuration of a queue pair.
type QPConfig struct {
	QPN            uint32 // the low bits (Card.Mask) select the core
	Type           verbs.QPType
	Context        int
	PD             verbs.PD
	SendCQ, RecvCQ uint32 // must be open on the queue pair's core
	SRQ            uint32 // shared receive queue; valid if HasSRQ
	HasSRQ         bool
	Cap            verbs.QPCap
	SignalAll      bool
	MaxMessage     uint32

	// LowLatency is the longest message of a low-latency queue pair; 0: an ordinary one.
	LowLatency int
}

// qp is a queue pair: the connection of package transport, and its core's bookkeeping.
type qp struct {
	config     QPConfig
	core       *core
	conn       transport.Conn // nil for raw packets
	raw        *raw
	send, recv *cq
	port       int
	pace       pace
	sprayed    bool   // packets leave through all ports in turn (Spec.Spray)
	number     uint64 // number of receive requests posted
	timerIndex int    // index in core.timers; -1: none
	parts      map[transport.Token]split
	copies     int // number of copies in flight
	// buffers of the core's receive queue that hold requests of the peer, and answers to this queue pair's
	heldRequests, heldAnswers int
	shares                    bool // counted in core.sharers
	frames                    int  // frames in transmit queues, or on their way to one
	staged                    int  // packets counted in frames that still wait in core.staging
	closing                   func()
	path                      transport.Path // of the latest RTR; datagrams have none
	landing                   *landing       // receive side of a low-latency queue pair; nil for others
	served                    *served        // messages go to an engine on the card; nil: to the application
}

// coreOf returns the core selected by a queue pair's number.
func (a *Card) coreOf(qpn uint32) (*core, error) {
	i := int(qpn & a.Mask())
	if i >= len(a.cores) {
		return nil, fmt.Errorf("data: queue pair %#x: its low bits are %d: want 0 to %d, a core", qpn, i,
			len(a.cores)-1)
	}
	return a.cores[i], nil
}

// runOn runs f as software of the core that a number selects. If there is no such core, it returns an error and calls
// done with it.
func (a *Card) runOn(qpn uint32, done func(error), f func(c *core) error) {
	c, err := a.coreOf(qpn)
	if err != nil {
		done(err)
		return
	}
	c.cpu.Call(func() { done(f(c)) })
}

// CreateQP creates a queue pair in state RESET. Here and in the functions below, done is called once, as software of
// the queue pair's core.
func (a *Card) CreateQP(q QPConfig, done func(error)) {
	if q.LowLatency > 0 {
		a.createLowLatency(q, done)
		return
	}
	a.runOn(q.QPN, done, func(c *core) error { return c.create(q) })
}

// create creates a queue pair on its core.
func (c *core) create(cfg QPConfig) error {
	if c.qps[cfg.QPN] != nil || c.srqs[cfg.QPN] != nil {
		return fmt.Errorf("data: queue pair %#x already exists", cfg.QPN)
	}
	q := &qp{config: cfg, core: c, timerIndex: -1, parts: map[transport.Token]split{}, send: c.cqs[cfg.SendCQ],
		recv: c.cqs[cfg.RecvCQ]}
	if q.send == nil || q.recv == nil {
		return fmt.Errorf("data: queue pair %#x: completion queues %d and %d: want them open on core %d", cfg.QPN,
			cfg.SendCQ, cfg.RecvCQ, c.index)
	}
	var shared *transport.RecvQueue
	if cfg.HasSRQ {
		s := c.srqs[cfg.SRQ]
		if s == nil {
			return fmt.Errorf("data: queue pair %#x: shared receive queue %#x: want it on core %d", cfg.QPN, cfg.SRQ,
				c.index)
		}
		shared = s.queue
	}
	if cfg.Type == rawPacket {
		if c.index != 0 {
			return fmt.Errorf("data: queue pair %#x of raw packets: want it on core 0, which gets the frames that "+
				"are not RoCE", cfg.QPN)
		}
		q.raw = newRaw(q)
		c.qps[cfg.QPN] = q
		return nil
	}
	s := c.spec.transport(&cfg)
	q.pace.begin(&c.spec.CC, s.Kind)
	q.sprayed = c.spec.sprays(s.Kind)
	var err error
	if q.conn, err = transport.New(s, q, &q.pace, shared); err != nil {
		return err
	}
	c.qps[cfg.QPN] = q
	return nil
}

// transport returns the spec of a queue pair's connection.
func (s *Spec) transport(cfg *QPConfig) transport.Spec {
	kinds := map[verbs.QPType]transport.Kind{verbs.QPTRC: transport.RC, verbs.QPTUC: transport.UC,
		verbs.QPTUD: transport.UD, verbs.QPTSolar: transport.Solar}
	t := transport.DefaultSpec(kinds[cfg.Type], cfg.QPN)
	if t.Kind == transport.RC {
		t.Recovery = s.Recovery
	}
	t.Access, t.GRH = 0, cfg.Type == verbs.QPTUD
	s.CC.transport(&t)
	s.spray(&t)
	t.MaxSend, t.MaxRecv, t.MaxSGE, t.MaxInline = max(cfg.Cap.MaxSendWR, 1), cfg.Cap.MaxRecvWR, MaxSGE, MaxInline
	if t.Landing = cfg.LowLatency; t.Landing > 0 {
		t.MaxInline = t.Landing
	}
	return t
}

func (a *Card) find(c *core, qpn uint32) (*qp, error) {
	q := c.qps[qpn]
	if q == nil || q.closing != nil {
		return nil, fmt.Errorf("data: queue pair %#x does not exist", qpn)
	}
	return q, nil
}

// Change is a modification of a queue pair.
type Change struct {
	To     verbs.State
	Attr   transport.Attr // valid with To RTR and RTS
	Access verbs.Access   // new rights of the peer
	QKey   uint32
	Port   int // Ethernet port, from 0
	After  Posted
}

// ModifyQP changes the state and the other fields of Change, once the core has taken the requests posted before.
func (a *Card) ModifyQP(qpn uint32, x Change, done func(error)) {
	c, err := a.coreOf(qpn)
	if err != nil {
		done(err)
		return
	}
	c.cpu.Call(func() {
		q, err := a.find(c, qpn)
		if err == nil && (x.Port < 0 || x.Port >= len(c.tx)) {
			err = field.Errorf("port", "%d: want 0 to %d", x.Port, len(c.tx)-1)
		}
		if err != nil {
			done(err)
			return
		}
		c.afterPosted(q.config.Context, x.After, func() {
			q.begin(&x, func(err error) {
				if err != nil || x.To != verbs.QPSReset {
					done(err)
					return
				}
				q.send.forget(qpn)
				q.recv.forget(qpn)
				// after this NOP earlier completions are in the host, so that the library can tell them from later ones
				c.copies.nop(func() { done(nil) })
			})
		})
	})
}

// begin starts a state change, and calls done once the connection and the NIC's queue have followed it.
func (q *qp) begin(x *Change, done func(error)) {
	if q.landing != nil {
		q.landing.modify(x, done)
		return
	}
	done(q.modify(x))
}

// modify applies a change to the pacer, the peer's rights and the connection.
func (q *qp) modify(x *Change) error {
	if q.raw != nil {
		return q.raw.change(*x)
	}
	c := q.core
	q.port = x.Port
	if err := q.pace.modify(x); err != nil {
		return err
	}
	q.conn.SetRights(x.Access, x.QKey)
	err := q.conn.Modify(c.now(), x.To, &x.Attr)
	if err == nil && x.To == verbs.QPSRTR {
		q.path = x.Attr.Path
	}
	c.wake(q)
	return err
}

// QueryQP returns the state of a queue pair.
func (a *Card) QueryQP(qpn uint32, done func(verbs.State, error)) {
	var s verbs.State
	a.runOn(qpn, func(err error) { done(s, err) }, func(c *core) error {
		q, err := a.find(c, qpn)
		switch {
		case err != nil:
			return err
		case q.raw != nil:
			s = q.raw.state
		default:
			s = q.conn.State()
		}
		return nil
	})
}

// DestroyQP destroys a queue pair and discards its requests, without completions. done is called when it has nothing in
// flight any more.
func (a *Card) DestroyQP(qpn uint32, p Posted, done func(error)) {
	c, err := a.coreOf(qpn)
	if err != nil {
		done(err)
		return
	}
	c.cpu.Call(func() {
		q, err := a.find(c, qpn)
		if err != nil {
			done(err)
			return
		}
		c.afterPosted(q.config.Context, p, func() { q.destroy(done) })
	})
}

// destroy moves a queue pair to RESET and removes it once nothing of it is in flight.
func (q *qp) destroy(done func(error)) {
	c, qpn := q.core, q.config.QPN
	q.closing = func() {
		c.disarm(q)
		if c.raws[q.port] == q {
			delete(c.raws, q.port)
		}
		c.active.Remove(qpn)
		delete(c.qps, qpn)
		done(nil)
	}
	if q.raw != nil {
		q.fail(q.raw.change(Change{To: verbs.QPSReset, Port: q.port}))
	} else {
		q.fail(q.conn.Modify(c.now(), verbs.QPSReset, nil))
		q.recountSharer()
	}
	for _, s := range c.tx {
		s.drain(q.destroyIfIdle)
	}
	if q.landing != nil {
		q.copies++
		q.landing.destroy(func() {
			q.copies--
			q.destroyIfIdle()
		})
	}
	q.send.forget(qpn)
	q.recv.forget(qpn)
	q.copies++ // for the empty copy below, which ends once the completions of the queue pair are in the host
	c.copies.nop(func() {
		q.copies--
		q.destroyIfIdle()
	})
}

func (q *qp) fail(err error) { q.core.fail(err) }

// destroyIfIdle finishes the destruction of a queue pair once it has nothing in flight.
func (q *qp) destroyIfIdle() {
	if f := q.closing; f != nil && q.copies == 0 && q.frames == 0 {
		if q.core.qps[q.config.QPN] == q {
			f()
		}
	}
}

// sent reports to the connection that the NIC has read the frame with a token.
func (q *qp) sent(t transport.Token) {
	if q.raw != nil {
		q.raw.sent(t)
	} else {
		q.conn.Sent(q.core.now(), t)
	}
	q.core.wake(q)
}

// srq is a shared receive queue.
type srq struct {
	context int
	queue   *transport.RecvQueue
	number  uint64
}

// CreateSRQ creates a shared receive queue on the core selected by its number, which no queue pair may have.
func (a *Card) CreateSRQ(number uint32, context, maxWR, maxSGE int, done func(error)) {
	a.runOn(number, done, func(c *core) error {
		if c.srqs[number] != nil || c.qps[number] != nil {
			return fmt.Errorf("data: shared receive queue %#x already exists", number)
		}
		c.srqs[number] = &srq{context: context, queue: transport.NewRecvQueue(maxWR, maxSGE)}
		return nil
	})
}

// ModifySRQ requests one EventSRQLimit when fewer than `limit` requests are left.
func (a *Card) ModifySRQ(number uint32, limit int, done func(error)) {
	a.runOn(number, done, func(c *core) error {
		s := c.srqs[number]
		if s == nil {
			return fmt.Errorf("data: shared receive queue %#x does not exist", number)
		}
		s.queue.OnLimit(limit, func() {
			if a.async != nil {
				a.async(Async{Event: transport.EventSRQLimit, QPN: number})
			}
		})
		return nil
	})
}

// DestroySRQ destroys an unused shared receive queue, once the core has taken everything posted before.
func (a *Card) DestroySRQ(number uint32, p Posted, done func(error)) {
	c, err := a.coreOf(number)
	if err != nil {
		done(err)
		return
	}
	c.cpu.Call(func() {
		s := c.srqs[number]
		if s == nil {
			done(fmt.Errorf("data: shared receive queue %#x does not exist", number))
			return
		}
		c.afterPosted(s.context, p, func() {
			delete(c.srqs, number)
			done(nil)
		})
	})
}

// SetHandle sets the address of an address handle for datagrams; nil removes it.
func (a *Card) SetHandle(h verbs.AH, to *transport.AH) {
	if to == nil {
		delete(a.handles, h)
		return
	}
	a.handles[h] = to
}
