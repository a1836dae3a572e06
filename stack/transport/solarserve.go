package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// takeRequest handles a block to write, or a request for one.
func (c *solar) takeRequest(p *Packet) {
	psn := p.BTH.PSN
	d := seq.Diff(psn, c.expected)
	if d >= c.spec.Window {
		c.ignore(p)
		return
	}
	duplicate := d < 0 || c.seen.Has(c.index(psn))
	if duplicate {
		c.stats.Duplicates++
	}
	h := &p.solar
	h.syndrome = wire.ACKNoCredits
	if p.BTH.Opcode == OpSolarRead {
		c.env.Drop(p.Handle)
		c.markSeen(psn)
		if s := c.refusal(h, verbs.AccessRemoteRead); s != wire.ACKNoCredits || h.length > uint32(c.attr.MTU) ||
			p.Payload != 0 {
			c.answer(psn, h, max(s, wire.NAKInvalidRequest))
		} else if c.fetches.Len() < c.spec.Window {
			c.fetches.Push(fetch{psn: psn, h: *h})
		}
		return
	}
	c.takeWrite(p, h, duplicate)
}

// takeWrite handles a block to write: it stores the block, refuses it, or acknowledges a duplicate again.
func (c *solar) takeWrite(p *Packet, h *solarHeader, duplicate bool) {
	psn, n, k := p.BTH.PSN, p.Payload, c.index(p.BTH.PSN)
	switch s := c.refusal(h, verbs.AccessRemoteWrite); {
	case !duplicate && n > 0 && c.env.CRC(p.Handle, n) != h.crc:
		c.ignore(p) // the block is corrupted: the client sends it again after the timeout
		return
	case c.writing.Has(k):
		if c.acks[k].psn != psn {
			c.stats.Ignored++
		}
	case s != wire.ACKNoCredits || n != int(h.length) || n > int(c.attr.MTU):
		c.markSeen(psn)
		c.answer(psn, h, max(s, wire.NAKInvalidRequest))
	case duplicate || n == 0:
		c.markSeen(psn)
		c.answer(psn, h, wire.ACKNoCredits)
	default:
		c.markSeen(psn)
		c.writing.Set(k)
		c.acks[k] = answer{psn: psn, h: *h}
		c.parts = append(c.parts[:0], Part{To: Span{Addr: h.addr, Len: uint32(n), Key: h.key}, Remote: true})
		c.env.Place(p.Handle, c.parts, placedToken(uint64(psn)))
		return
	}
	c.env.Drop(p.Handle)
}

// refusal returns the syndrome with which to refuse a block for lack of access rights: ACKNoCredits if they suffice.
func (c *solar) refusal(h *solarHeader, need verbs.Access) wire.Syndrome {
	switch c.mayAccess(&wire.RETHFields{VA: h.addr, RKey: h.key, DMALen: h.length}, need) {
	case accepted:
		return wire.ACKNoCredits
	case forbidden:
		return wire.NAKRemoteAccess
	}
	return wire.NAKInvalidRequest
}

// markSeen records that the packet with a PSN has arrived.
func (c *solar) markSeen(psn uint32) {
	if seq.Diff(psn, c.expected) < 0 {
		return
	}
	c.seen.Set(c.index(psn))
	for c.seen.Has(c.index(c.expected)) {
		c.seen.Clear(c.index(c.expected))
		c.expected = seq.Add(c.expected, 1)
	}
}

// answer queues an acknowledgement, unless a window of them is queued already: then the client retransmits the block.
func (c *solar) answer(psn uint32, h *solarHeader, s wire.Syndrome) {
	if c.answers.Len() >= c.spec.Window {
		return
	}
	a := answer{psn: psn, h: *h}
	a.h.syndrome = s
	c.answers.Push(a)
}

// endWrite acknowledges a block that is in memory, or failed to be written.
func (c *solar) endWrite(psn uint32, status verbs.Status) {
	k := c.index(psn)
	if !c.writing.Has(k) || c.acks[k].psn != psn {
		return
	}
	c.writing.Clear(k)
	s := wire.ACKNoCredits
	if status != verbs.WCSuccess {
		s = wire.NAKRemoteOperational
	}
	c.answer(psn, &c.acks[k].h, s)
}

// Next builds the next packet.
func (c *solar) Next(now Ps, o *Out) bool {
	c.paceAt = 0
	switch {
	case c.state == verbs.QPSReset || c.state == verbs.QPSInit || c.state == verbs.QPSErr:
		return false
	case c.nextCNP(o):
		return true
	case c.answers.Len() > 0:
		a := c.answers.Pop()
		c.stats.Acks++
		c.encodeSolar(o, OpSolarAck, a.psn, &a.h, 0)
		return true
	case c.fetches.Len() > 0:
		return c.sendData(now, o)
	}
	return c.resend(now, o) || c.sendBlock(now, o)
}

// sendData sends a requested block.
func (c *solar) sendData(now Ps, o *Out) bool {
	n := int(c.fetches.Front().h.length)
	if !c.admit(now, c.solarBytes(n), 0) {
		return false
	}
	f := c.fetches.Pop()
	c.stats.Sent++
	c.encodeSolar(o, OpSolarData, f.psn, &f.h, n)
	if n > 0 {
		o.Spans, o.Remote = append(o.Spans, Span{Addr: f.h.addr, Len: uint32(n), Key: f.h.key}), true
	}
	return true
}

// solarBytes returns the length of the frame that carries n bytes of a block.
func (c *solar) solarBytes(n int) int {
	return frameBytes(&c.ah, SolarHeaderSize, n+SolarTrailerSize)
}

// resend retransmits the next block that was not answered in time.
func (c *solar) resend(now Ps, o *Out) bool {
	for c.lost.Len() > 0 {
		psn := *c.lost.Front()
		b := &c.blocks[c.index(psn)]
		if seq.Diff(psn, c.una) < 0 || !b.busy || !b.resend {
			c.lost.Pop()
			continue
		}
		if !c.transmit(now, o, psn, b) {
			return false
		}
		c.stats.Resent++
		b.resend = false
		c.lost.Pop()
		return true
	}
	return false
}

// sendBlock sends the next block for the first time.
func (c *solar) sendBlock(now Ps, o *Out) bool {
	r := c.request(c.sending)
	for ; r != nil && r.Status != verbs.WCSuccess && c.state == verbs.QPSRTS; r = c.request(c.sending) {
		c.sending++
		r.done = true
		c.finish(r)
	}
	if r == nil || seq.Diff(c.top, c.una) >= c.spec.Window || c.state != verbs.QPSRTS &&
		(c.state != verbs.QPSSQD || c.next == 0) {
		return false
	}
	b := &c.blocks[c.index(c.top)]
	*b = block{busy: true, number: c.sending, index: c.next}
	if !c.transmit(now, o, c.top, b) {
		b.busy = false
		return false
	}
	c.top = seq.Add(c.top, 1)
	if c.next++; c.next == r.n {
		c.next = 0
		c.sending++
	}
	return true
}

// transmit sends the packet of a block: the block of a WRITE, or the request of a READ.
func (c *solar) transmit(now Ps, o *Out, psn uint32, b *block) bool {
	r := c.request(b.number)
	off, n := c.part(r, b.index)
	h := solarHeader{block: uint16(b.index), request: uint32(b.number), key: r.RKey, length: uint32(n),
		addr: r.RemoteAddr + uint64(off)}
	op, carried := OpSolarWrite, n
	if r.returns() {
		op, carried = OpSolarRead, 0
	}
	if !c.admit(now, c.solarBytes(carried), 0) {
		return false
	}
	c.stats.Sent++
	c.encodeSolar(o, op, psn, &h, carried)
	switch {
	case carried == 0:
	case r.Flags&verbs.SendInline != 0:
		o.Inline = r.inline[off : int(off)+n]
	default:
		o.Spans = gather(o.Spans, r.spans, off, n)
	}
	if d := c.attr.rto(); d != Never {
		b.deadline = now + d
		c.timers.Push(timer{psn: psn, at: b.deadline})
	}
	return true
}

// Deadline returns when the next block times out.
func (c *solar) Deadline() Ps {
	d := c.base.Deadline()
	for c.timers.Len() > 0 {
		t := c.timers.Front()
		if c.stale(t) {
			c.timers.Pop()
			continue
		}
		return min(d, t.at)
	}
	return d
}

// stale reports whether the timer's block has ended, or was sent again since the timer was set.
func (c *solar) stale(t *timer) bool {
	b := &c.blocks[c.index(t.psn)]
	return seq.Diff(t.psn, c.una) < 0 || !b.busy || b.deadline != t.at || b.resend
}

// Expire queues blocks for retransmission that were not answered in time.
func (c *solar) Expire(now Ps) {
	c.base.Expire(now)
	for c.timers.Len() > 0 && c.timers.Front().at <= now {
		t := c.timers.Pop()
		if c.stale(&t) {
			continue
		}
		b := &c.blocks[c.index(t.psn)]
		c.stats.Timeouts++
		if b.tries >= c.attr.RetryCount {
			r := c.request(b.number)
			r.status = verbs.WCRetryExcErr
			c.state = verbs.QPSErr
			c.enterError()
			return
		}
		b.tries++
		b.resend = true
		c.lost.Push(t.psn)
		c.pacer.Lost(now, true)
	}
}
