package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// nextRequest builds the next request packet.
func (c *rc) nextRequest(now Ps, o *Out) bool {
	if c.state != verbs.QPSRTS && c.state != verbs.QPSSQD || c.rnrUntil != 0 {
		return false
	}
	if c.sel != nil && c.sel.losses > 0 {
		return c.resendLost(now, o)
	}
	for {
		r := c.request(c.sending)
		if r == nil || c.sending == c.fresh && !c.start(r) {
			return false
		}
		if !r.Op.IsLocal() {
			return c.transmit(now, o, r)
		}
		c.sending++
	}
}

// start assigns PSNs to a request if it may begin.
func (c *rc) start(r *request) bool {
	if c.state != verbs.QPSRTS {
		return false
	}
	if r.Flags&verbs.SendFence != 0 && (c.reads > 0 || !c.landed.Before(c.landed.Next())) {
		return false
	}
	if r.Status != verbs.WCSuccess {
		if c.allEnded() { // requests before r complete first
			c.fail(r, r.Status)
		}
		return false
	}
	if r.Op == verbs.WRLocalInv {
		return c.invalidate(r)
	}
	if r.Op == verbs.WRNop {
		r.first, r.from, r.n = c.top, c.top, 0
		c.fresh++
		c.endNops()
		c.endSends()
		return true
	}
	if r.returns() {
		if c.attr.MaxRead == 0 {
			c.fail(r, verbs.WCLocQPOpErr)
			return false
		}
		if c.reads >= int(c.attr.MaxRead) {
			return false
		}
		c.reads++
	}
	r.first, r.from, r.n = c.top, c.top, packets(r.length, c.attr.MTU)
	if r.Op.IsAtomic() {
		r.n = 1
	}
	c.fresh++
	return true
}

// packets returns the number of packets, or of PSNs of a READ, in a message.
func packets(length uint32, mtu verbs.MTU) uint32 {
	return max(1, (length+uint32(mtu)-1)/uint32(mtu))
}

// allEnded reports whether every request begun so far has ended.
func (c *rc) allEnded() bool { return c.oldest == c.fresh && c.landed.Before(c.landed.Next()) }

// invalidate carries out LOCAL_INV, which has no packet, once all requests before it have ended.
func (c *rc) invalidate(r *request) bool {
	if !c.allEnded() {
		return false
	}
	if !c.env.Invalidate(r.Imm) {
		c.fail(r, verbs.WCLocQPOpErr)
		return false
	}
	r.done = true
	c.fresh++
	c.oldest++
	c.endSends()
	return true
}

// endNops ends the NOPs behind the last packet that was acknowledged: they take no PSN, so that no acknowledgement ends
// them.
func (c *rc) endNops() {
	for c.oldest < c.fresh {
		r := c.request(c.oldest)
		if r.Op != verbs.WRNop {
			return
		}
		r.done, r.after = true, c.landed.Next()
		c.oldest++
	}
}

// transmit builds the packet of request r that has PSN nxt.
func (c *rc) transmit(now Ps, o *Out, r *request) bool {
	resent := c.nxt != c.top
	if r.Op == verbs.WRRead && !resent {
		c.cut(r)
	}
	n := c.span(r, c.nxt)
	if !resent && !c.inWindow(now, r, n) || !c.mayFollow(n) || !c.creditFor(r, resent) {
		return false
	}
	fresh := 0
	if !resent {
		fresh = int(n) * int(c.attr.MTU)
	}
	if !c.admit(now, c.wireBytes(r, c.nxt), fresh) {
		return false
	}
	c.encode(o, r, c.nxt, n, resent || c.isFull(seq.Add(c.nxt, n)))
	c.sent(now, c.nxt, n, resent)
	if !resent && (c.nxt == r.first || r.Op == verbs.WRRead) {
		c.credit.sent = seq.Add(c.credit.sent, 1)
	}
	c.nxt = seq.Add(c.nxt, n)
	if c.nxt == seq.Add(r.first, r.n) {
		c.sending++
	}
	if !resent {
		c.top = c.nxt
	}
	return true
}

// span returns the number of PSNs that the packet with PSN p covers: for a READ those up to the end of its
// piece.
func (c *rc) span(r *request, p uint32) uint32 {
	if r.Op != verbs.WRRead {
		return 1
	}
	end := min(uint32(seq.Diff(r.from, r.first))+r.piece, r.n)
	return end - uint32(seq.Diff(p, r.first))
}

// mayFollow reports whether the pacer's window allows n more PSNs from nxt on.
func (c *rc) mayFollow(n uint32) bool {
	inFlight := seq.Diff(c.nxt, c.una)
	return inFlight <= 0 || int64(inFlight+int(n))*int64(c.attr.MTU) <= c.pacer.Window()
}

// sent records a packet that has left.
func (c *rc) sent(now Ps, p, n uint32, resent bool) {
	c.stats.Sent++
	if resent {
		c.stats.Resent++
	}
	if c.sel != nil {
		c.sel.sent(p, n)
	}
	c.window.probe = false
	if c.deadline == Never {
		c.deadline = c.answerDeadline(now)
	}
}

// wireBytes returns the length of the frame with PSN p.
func (c *rc) wireBytes(r *request, p uint32) int {
	switch {
	case r.Op.IsAtomic():
		return frameBytes(&c.ah, wire.AtomicETHSize, 0)
	case r.returns():
		return frameBytes(&c.ah, wire.RETHSize, 0)
	}
	i := uint32(seq.Diff(p, r.first))
	return frameBytes(&c.ah, wire.ExtLen(opcodeOf(r.Op, i == 0, i == r.n-1)), c.payload(r, p))
}

// payload returns the number of bytes of a request that belong to PSN p.
func (c *rc) payload(r *request, p uint32) int {
	off := uint32(seq.Diff(p, r.first)) * uint32(c.attr.MTU)
	return int(min(r.length-off, uint32(c.attr.MTU)))
}

// encode builds the packet of r with PSN p, which covers n PSNs.
func (c *rc) encode(o *Out, r *request, p, n uint32, ask bool) {
	if r.returns() {
		c.window.asks(seq.Add(p, n))
		c.encodeFetch(o, r, p, n)
		return
	}
	i := uint32(seq.Diff(p, r.first))
	last := i == r.n-1
	var f bthFlags
	if ask || last || (i+1)%c.ackEvery() == 0 {
		f = flagAckReq
		c.window.asks(seq.Add(p, 1))
	}
	c.base.encode(o, &c.ah, r, i, p, f, c.attr.DestQP)
}

// encode builds packet i of a SEND or WRITE of any service.
func (b *base) encode(o *Out, ah *AH, r *request, i, p uint32, f bthFlags, destQP uint32) {
	mtu := uint32(b.attr.MTU)
	last := i == r.n-1
	op := opcodeOf(r.Op, i == 0, last)
	if last && r.Flags&verbs.SendSolicited != 0 && (r.Op.IsSend() || r.Op.HasImm()) {
		f |= flagSolicited
	}
	if b.spec.Kind == UC {
		op |= wire.UCSendFirst
	}
	payload := int(min(r.length-i*mtu, mtu))
	info := op.Info()
	ext := b.begin(o, ah, op, destQP, p, f, int(info.ExtLen), payload, 0)
	if info.Has(wire.HeaderRETH) {
		h := wire.RETHFields{VA: r.RemoteAddr, RKey: r.RKey, DMALen: r.length}
		_ = h.Encode(ext) // cannot fail: ext has ExtLen bytes
		ext = ext[wire.RETHSize:]
	}
	if info.Has(wire.HeaderImmDt) || info.Has(wire.HeaderIETH) {
		h := wire.ImmDtFields{Imm: r.Imm}
		_ = h.Encode(ext)
	}
	if r.Flags&verbs.SendInline != 0 {
		o.Inline = r.inline[i*mtu : i*mtu+uint32(payload)]
	} else {
		o.Spans = gather(o.Spans, r.spans, i*mtu, payload)
	}
}

// opcodeOf returns the RC opcode of a packet by its position in the message.
func opcodeOf(op verbs.Opcode, first, last bool) wire.Opcode {
	base := wire.RCSendFirst
	if op.IsWrite() {
		base = wire.RCWriteFirst
	}
	switch {
	case !last && first:
		return base
	case !last:
		return base + 1
	}
	if op == verbs.WRSendInv {
		if first {
			return wire.RCSendOnlyInv
		}
		return wire.RCSendLastInv
	}
	end := base + 2
	if first {
		end = base + 4
	}
	if op.HasImm() {
		end++
	}
	return end
}

// encodeFetch builds a READ request for n PSNs from p on, or an atomic.
func (c *rc) encodeFetch(o *Out, r *request, p, n uint32) {
	if r.Op == verbs.WRRead {
		off := uint32(seq.Diff(p, r.first)) * uint32(c.attr.MTU)
		h := wire.RETHFields{VA: r.RemoteAddr + uint64(off), RKey: r.RKey,
			DMALen: min(r.length-off, n*uint32(c.attr.MTU))}
		_ = h.Encode(c.begin(o, &c.ah, wire.RCReadRequest, c.attr.DestQP, p, flagAckReq, wire.RETHSize, 0, 0))
		return
	}
	h := wire.AtomicETHFields{VA: r.RemoteAddr, RKey: r.RKey, SwapAdd: r.CompareAdd}
	op := wire.RCFetchAdd
	if r.Op == verbs.WRCmpSwap {
		op, h.SwapAdd, h.Compare = wire.RCCmpSwap, r.Swap, r.CompareAdd
	}
	_ = h.Encode(c.begin(o, &c.ah, op, c.attr.DestQP, p, flagAckReq, wire.AtomicETHSize, 0, 0))
}
