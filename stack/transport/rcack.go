package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// takeAck handles an ACK, RNR NAK or NAK.
func (c *rc) takeAck(now Ps, p *Packet) {
	c.env.Drop(p.Handle)
	psn, s := p.BTH.PSN, p.AETH.Syndrome
	c.takeWindow(p)
	if !c.outstanding(psn) {
		c.stats.Ignored++
		return
	}
	switch s.Kind() {
	case wire.SyndromeACK:
		c.credit.update(p.AETH)
		c.ackBelow(now, seq.Add(psn, 1), p.BTH.BECN, true)
	case wire.SyndromeRNR:
		c.takeRNR(now, psn, s, p.BTH.BECN)
	case wire.SyndromeNAK:
		c.takeNAK(now, psn, s, p.BTH.BECN)
	default:
		c.stats.Ignored++
	}
}

// outstanding reports whether a PSN was sent and is not acknowledged yet.
func (c *rc) outstanding(p uint32) bool {
	return seq.Diff(p, c.una) >= 0 && seq.Diff(p, c.top) < 0
}

// ackBelow records that all SENDs and WRITEs before PSN e have arrived. answered means that the peer has also answered
// all earlier READs and atomics, so that a missing answer was lost.
func (c *rc) ackBelow(now Ps, e uint32, echo, answered bool) {
	if c.sel != nil {
		c.markBelow(now, e, echo, answered)
		return
	}
	before := c.una
	for seq.Diff(e, c.una) > 0 {
		r := c.request(c.oldest)
		if r.returns() {
			break
		}
		if end := seq.Add(r.first, r.n); seq.Diff(e, end) >= 0 {
			c.una = end
			c.endOldest(r)
		} else {
			c.una = e
		}
	}
	if c.una != before {
		c.noteProgress(now, seq.Diff(c.una, before), echo)
	}
	if answered && seq.Diff(e, c.una) > 0 {
		c.lost(now)
	}
}

// endOldest records that all packets of the oldest request have arrived. The request behind it has packets, if any.
func (c *rc) endOldest(r *request) {
	r.done, r.after = true, c.landed.Next()
	if r.returns() {
		c.reads--
	}
	c.oldest++
	c.endNops()
}

// noteProgress records that n more PSNs were acknowledged.
func (c *rc) noteProgress(now Ps, n int, echo bool) {
	c.retries, c.rnrs, c.recovering = c.attr.RetryCount, c.attr.RNRRetry, false
	c.pacer.Acked(now, n*int(c.attr.MTU), echo)
	if seq.Diff(c.nxt, c.una) <= 0 { // the packets that were to be retransmitted have arrived
		c.nxt, c.sending = c.una, c.oldest
	}
	c.deadline = Never
	if c.una != c.top && c.rnrUntil == 0 {
		c.deadline = c.answerDeadline(now)
	}
	c.endSends()
	c.drain(c.fresh == c.ended)
}

// lost retransmits from the oldest packet on, since that or its answer was lost. It does so once for a loss, although
// each packet in flight causes another NAK.
func (c *rc) lost(now Ps) {
	if c.recovering {
		return
	}
	c.recovering = true
	if c.retry(now, false) {
		c.goBack()
	}
}

// goBack restarts transmission from the oldest unacknowledged PSN.
func (c *rc) goBack() { c.nxt, c.sending = c.una, c.oldest }

// takeRNR handles an RNR NAK by waiting for as long as the peer asks.
func (c *rc) takeRNR(now Ps, psn uint32, s wire.Syndrome, echo bool) {
	c.ackBelow(now, psn, echo, true)
	if c.state == verbs.QPSErr || c.rnrUntil != 0 || !c.outstanding(psn) {
		return
	}
	if c.una == psn {
		if c.rnrs == 0 {
			c.fail(c.request(c.oldest), verbs.WCRNRRetryExcErr)
			return
		}
		if c.attr.RNRRetry != 7 {
			c.rnrs--
		}
	}
	c.rnrUntil, c.deadline = now+Ps(s.RNRDelayPs()), Never
	if c.sel != nil {
		c.lose(psn)
	} else {
		c.goBack()
	}
}

// takeNAK handles a NAK. One for a sequence error makes go-back-N retransmit from the lost packet on; any other fails
// the request that the peer refuses.
func (c *rc) takeNAK(now Ps, psn uint32, s wire.Syndrome, echo bool) {
	c.ackBelow(now, psn, echo, true)
	if c.state == verbs.QPSErr {
		return
	}
	if s == wire.NAKSequence {
		if c.una == psn && c.sel == nil {
			c.lost(now)
		}
		return
	}
	if c.una != psn { // the answer to an earlier READ was lost, and the peer will not send it any more
		return
	}
	c.fail(c.request(c.oldest), refusal(s))
}

// refusal returns the status of a request that the peer has refused with a NAK.
func refusal(s wire.Syndrome) verbs.Status {
	switch s {
	case wire.NAKInvalidRequest:
		return verbs.WCRemInvReqErr
	case wire.NAKRemoteAccess:
		return verbs.WCRemAccessErr
	case wire.NAKRemoteOperational:
		return verbs.WCRemOpErr
	}
	return verbs.WCBadRespErr
}

// takeResponse handles a READ response or the answer to an atomic.
func (c *rc) takeResponse(now Ps, p *Packet) {
	psn := p.BTH.PSN
	if !c.outstanding(psn) {
		c.stats.Duplicates++
		c.env.Drop(p.Handle)
		return
	}
	if c.sel != nil {
		c.takeSelected(now, p)
		return
	}
	c.ackBelow(now, psn, p.BTH.BECN, true)
	if c.state == verbs.QPSErr || c.una != psn {
		c.stats.Early++
		c.env.Drop(p.Handle)
		return
	}
	r := c.request(c.oldest)
	if !c.storeResponse(r, p) {
		return
	}
	c.una = seq.Add(psn, 1)
	if c.una == seq.Add(r.first, r.n) {
		c.endOldest(r)
	}
	c.noteProgress(now, 1, p.BTH.BECN || p.Marked)
}

// storeResponse checks a response and starts writing it to memory. It returns false if the connection has ended.
func (c *rc) storeResponse(r *request, p *Packet) bool {
	atomic := p.BTH.Opcode == wire.RCAtomicAck
	switch {
	case !r.returns() || atomic != r.Op.IsAtomic():
		c.env.Drop(p.Handle)
		c.fail(r, verbs.WCBadRespErr)
		return false
	case atomic && p.Payload != 0, !atomic && p.Payload != c.payload(r, p.BTH.PSN):
		c.env.Drop(p.Handle)
		c.fail(r, verbs.WCLocLenErr)
		return false
	}
	if p.BTH.Opcode.Info().Has(wire.HeaderAETH) {
		c.credit.update(p.AETH)
		c.window.update(seq.Add(p.BTH.PSN, 1), p.BTH.Resv7)
	}
	switch off := uint32(seq.Diff(p.BTH.PSN, r.first)) * uint32(c.attr.MTU); {
	case atomic:
		c.env.Drop(p.Handle)
		c.env.Store(r.spans[0], p.Orig, landedToken(c.landed.Open()))
	case p.Payload == 0:
		c.env.Drop(p.Handle)
	default:
		c.scatter(r.spans, off, p.Payload)
		c.env.Place(p.Handle, c.parts, landedToken(c.landed.Open()))
	}
	return true
}
