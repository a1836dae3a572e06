package transport

import (
	"nictwin/models/format/wire"
	"nictwin/models/sim/fifo"
	"nictwin/stack/verbs"
)

// rc is one end of a reliable connection: requester (rcsend.go, rcack.go,
// rcselect.go) and responder (rcserve.go, rcreply.go).
type rc struct {
	base

	// Requester. PSNs: una <= nxt <= top.
	una           uint32 // oldest PSN not acknowledged
	nxt           uint32 // next PSN to send; behind top after going back
	top           uint32 // one past the newest PSN sent
	oldest        uint64 // number of the request that contains PSN una
	fresh         uint64 // number of the first request without PSNs
	reads         int    // READs and atomics in flight
	retries, rnrs uint8  // remaining retries, reset by progress
	deadline      Ps     // time at which an answer is overdue
	rnrUntil      Ps     // end of the wait that an RNR NAK requested
	recovering    bool   // went back since the last progress or timeout: further losses are left to the timer
	sel           *selective
	credit        credit
	window        window

	// Responder.
	expected    uint32 // next PSN expected
	msn         uint32
	nak         wire.Syndrome // NAK to send behind all replies; 0: none
	nakSent     bool          // a NAK was sent for the expected PSN: send no other
	ackDue      bool          // an acknowledgement is due
	ackedTo     uint32        // first PSN for which no acknowledgement was sent
	sackDue     bool
	echoes      bool // a packet since the last acknowledgement was marked (ECN)
	replies     fifo.Queue[reply]
	repeats     int // number of repeated replies in replies
	atomics     fifo.Queue[atomic]
	saved       fifo.Queue[savedAtomic] // the last MaxDestRead atomics
	repliedLast bool                    // the last packet sent was a reply's, so requests go first now
	early       *reorder
	scratch     Packet // a kept packet being served
	stray       Packet // a kept packet being dropped
}

var _ Conn = (*rc)(nil)

func newRC(b base) *rc {
	c := &rc{base: b, deadline: Never}
	if b.spec.Recovery == SelectiveRepeat {
		c.sel = newSelective(b.spec.Window)
		c.early = &reorder{window: b.spec.Window}
	}
	return c
}

// Modify changes the state; RTR sets up the responder, RTS the requester.
func (c *rc) Modify(now Ps, to verbs.State, a *Attr) error {
	from := c.state
	if err := c.change(to, a); err != nil {
		return err
	}
	switch {
	case to == verbs.QPSReset:
		c.restart()
	case to == verbs.QPSErr:
		c.enterError()
	case to == verbs.QPSRTR:
		c.expected, c.ackedTo = c.attr.RecvPSN, c.attr.RecvPSN
		c.window.granted = c.expected
	case from == verbs.QPSRTR:
		c.una, c.nxt, c.top = c.attr.SendPSN, c.attr.SendPSN, c.attr.SendPSN
		c.retries, c.rnrs = c.attr.RetryCount, c.attr.RNRRetry
		share, _, _ := c.env.Buffers()
		c.window.openRequester(share, c.una)
		if c.sel != nil {
			c.sel.received, c.sel.recover = c.una, c.una
		}
	case to == verbs.QPSSQD:
		c.drained = false
		c.drain(c.fresh == c.ended)
	}
	return nil
}

// restart discards all state of the connection, for a transition to RESET.
func (c *rc) restart() {
	c.dropEarly()
	c.reset()
	b := c.base
	b.paceAt = 0
	sel, early := c.sel, c.early
	for c.atomics.Len() > 0 { // atomics that wait; they will never be carried out
		b.placed.End(c.atomics.Pop().number)
	}
	*c = rc{base: b, deadline: Never, sel: sel, early: early}
	c.oldest, c.sending, c.fresh = b.ended, b.ended, b.ended
	if sel != nil {
		sel.reset()
	}
}

// Input handles a received packet.
func (c *rc) Input(now Ps, p *Packet) {
	if p.BTH.Opcode == wire.CNPOpcode {
		c.pacer.CNP(now)
		c.env.Drop(p.Handle)
		return
	}
	info := p.BTH.Opcode.Info()
	sack := p.BTH.Opcode == OpSelectiveAck
	if !c.receives() || !c.wellFormed(p) || info.Transport != wire.TransportRC && !sack || sack && c.sel == nil {
		c.ignore(p)
		return
	}
	if p.Marked {
		c.echoes = true
		c.marked(now)
	}
	switch info.Operation {
	case wire.OpReadResponse, wire.OpAtomicAck:
		c.takeResponse(now, p)
	case wire.OpAck:
		c.takeAck(now, p)
	default:
		if sack {
			c.takeSack(now, p)
		} else {
			c.takeRequest(now, p, &info)
		}
	}
}

// Next builds the next packet that may leave.
func (c *rc) Next(now Ps, o *Out) bool {
	c.paceAt = 0
	if c.state == verbs.QPSReset || c.state == verbs.QPSInit {
		return false
	}
	if c.nextCNP(o) || c.nextAck(o) {
		return true
	}
	if c.repliedLast && c.nextRequest(now, o) {
		c.repliedLast = false
		return true
	}
	if c.nextReply(now, o) {
		c.repliedLast = true
		return true
	}
	c.repliedLast = false
	return c.nextRequest(now, o)
}

// Deadline returns when Expire or Next has something to do.
func (c *rc) Deadline() Ps {
	d := min(c.deadline, c.base.Deadline())
	if c.rnrUntil != 0 {
		d = min(d, c.rnrUntil)
	}
	return d
}

// Expire handles timers that have run out.
func (c *rc) Expire(now Ps) {
	c.base.Expire(now)
	if c.rnrUntil != 0 && now >= c.rnrUntil {
		c.rnrUntil = 0
		if c.una != c.top {
			c.deadline = c.answerDeadline(now)
		}
	}
	if now < c.deadline {
		return
	}
	if c.una == c.top {
		c.deadline, c.window.probe = Never, true
		return
	}
	c.stats.Timeouts++
	c.recovering = false
	if !c.retry(now, true) {
		return
	}
	c.deadline = c.answerDeadline(now)
	if c.sel != nil {
		c.loseOldest()
	} else {
		c.goBack()
	}
}

// answerDeadline returns the deadline for an answer expected from now on.
func (c *rc) answerDeadline(now Ps) Ps {
	if d := c.attr.rto(); d != Never {
		return now + d
	}
	return Never
}

// retry counts a retry of the oldest request. It returns false if none is left, after failing the request.
func (c *rc) retry(now Ps, timeout bool) bool {
	if c.retries == 0 {
		c.fail(c.request(c.oldest), verbs.WCRetryExcErr)
		return false
	}
	c.retries--
	c.pacer.Lost(now, timeout)
	return true
}

// fail completes a request with an error, and moves the connection to ERR.
func (c *rc) fail(r *request, status verbs.Status) {
	if r != nil && !r.done {
		r.done, r.status, r.after = true, status, c.landed.Next()
	}
	c.state = verbs.QPSErr
	c.enterError()
}

// enterError moves the connection to ERR: all requests end. Replies to requests that were carried out still leave,
// followed by the NAK.
func (c *rc) enterError() {
	c.deadline, c.rnrUntil, c.ackDue, c.sackDue, c.cnpDue = Never, 0, false, false, false
	c.dropEarly()
	c.flushSends()
	c.flushRecvs()
}

// Placed handles the end of a copy.
func (c *rc) Placed(now Ps, t Token, status verbs.Status) {
	n := uint64(t>>1) - 1
	if t&1 == 0 {
		if status != verbs.WCSuccess && c.state != verbs.QPSErr && c.state != verbs.QPSReset {
			c.failLanding(n, status)
		}
		c.landed.End(n)
		c.endSends()
		c.drain(c.fresh == c.ended)
		return
	}
	if status != verbs.WCSuccess && c.state != verbs.QPSErr && c.state != verbs.QPSReset {
		c.failPlacing(n, status)
	}
	c.placed.End(n)
	c.endRecvs()
	c.runAtomics()
}

// failLanding fails the request whose response could not be written to this end's memory, and the connection.
func (c *rc) failLanding(n uint64, status verbs.Status) {
	for i := range c.sq.Len() {
		r := *c.sq.At(i)
		if r.returns() && (r.done && n < r.after || !r.done) {
			if r.done {
				r.status = status
			}
			c.fail(r, status)
			return
		}
	}
	c.fail(nil, status)
}

// failPlacing fails the receive request whose bytes could not be written, and the connection.
func (c *rc) failPlacing(n uint64, status verbs.Status) {
	for i := range c.done.Len() {
		if d := c.done.At(i); n < d.after {
			d.Status = status
			break
		}
	}
	c.refuse(wire.NAKRemoteOperational, status, EventQPFatal)
}

// Sent does nothing on RC, where only acknowledgements end requests.
func (c *rc) Sent(Ps, Token) {}
