package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// takeRequest handles a request packet.
func (c *rc) takeRequest(now Ps, p *Packet, info *wire.OpInfo) {
	switch d := seq.Diff(p.BTH.PSN, c.expected); {
	case d < 0:
		c.stats.Duplicates++
		c.duplicate(p, info)
		c.env.Drop(p.Handle)
	case d > 0:
		c.stats.Early++
		c.takeEarly(p, d)
	default:
		c.serve(p, info)
		c.serveEarly()
	}
}

// serve executes the expected packet and returns whether it was accepted.
func (c *rc) serve(p *Packet, info *wire.OpInfo) bool {
	v := c.execute(p, info)
	if v == accepted {
		c.nak, c.nakSent = 0, false
		// READs and atomics are acknowledged by their replies.
		if p.BTH.AckReq && (info.Operation == wire.OpSend || info.Operation == wire.OpWrite) {
			c.ackDue = true
		}
		return true
	}
	c.env.Drop(p.Handle)
	switch v {
	case noRecv:
		if c.spec.Landing > 0 {
			c.dropEarly() // kept packets hold receive requests that the expected packet needs
		}
		c.nak, c.nakSent = wire.RNRSyndrome(c.attr.MinRNR), true
	case forbidden:
		c.refuse(wire.NAKRemoteAccess, verbs.WCLocAccessErr, EventQPAccessErr)
	case tooLong:
		c.refuse(wire.NAKInvalidRequest, verbs.WCLocLenErr, EventQPReqErr)
	case localFault:
		c.refuse(wire.NAKRemoteOperational, verbs.WCLocProtErr, 0)
	default:
		c.refuse(wire.NAKInvalidRequest, verbs.WCRemInvReqErr, EventQPReqErr)
	}
	return false
}

// execute carries out a request, or the part of it in this packet.
func (c *rc) execute(p *Packet, info *wire.OpInfo) verdict {
	switch info.Operation {
	case wire.OpSend, wire.OpWrite:
		v := c.deliver(p, info)
		if v == accepted {
			c.expected = seq.Add(c.expected, 1)
			if info.Position.Ends() {
				c.msn = seq.Add(c.msn, 1)
			}
		}
		return v
	case wire.OpReadRequest:
		return c.serveRead(p)
	case wire.OpCmpSwap, wire.OpFetchAdd:
		return c.serveAtomic(p)
	}
	return invalid // opcode without a meaning
}

// refuse ends the connection with a NAK, which leaves after the replies to earlier requests. With event 0, a completion
// alone reports the failure.
func (c *rc) refuse(s wire.Syndrome, status verbs.Status, e Event) {
	c.nak = s
	c.failRecv(status)
	c.state = verbs.QPSErr
	c.enterError()
	if e != 0 {
		c.env.Async(e)
	}
}

// busy reports whether the peer has as many READs and atomics in flight as it may have.
func (c *rc) busy() bool { return c.replies.Len()-c.repeats >= int(c.attr.MaxDestRead) }

// serveRead checks a READ and queues its reply.
func (c *rc) serveRead(p *Packet) verdict {
	if c.in.op != wire.OpReserved || p.Payload != 0 {
		return invalid
	}
	if v := c.mayAccess(&p.RETH, verbs.AccessRemoteRead); v != accepted {
		return v
	}
	if c.busy() {
		return invalid
	}
	c.env.Drop(p.Handle)
	n := packets(p.RETH.DMALen, c.attr.MTU)
	c.msn = seq.Add(c.msn, 1)
	c.replies.Push(reply{psn: c.expected, n: n, va: p.RETH.VA, key: p.RETH.RKey, length: p.RETH.DMALen, msn: c.msn,
		after: c.placed.Next()})
	c.dropBefore(n)
	c.expected = seq.Add(c.expected, n)
	return accepted
}

// serveAtomic checks an atomic, and queues it and its reply.
func (c *rc) serveAtomic(p *Packet) verdict {
	h := wire.RETHFields{VA: p.RETH.VA, RKey: p.RETH.RKey, DMALen: 8}
	if c.in.op != wire.OpReserved || p.Payload != 0 || h.VA%8 != 0 {
		return invalid
	}
	if v := c.mayAccess(&h, verbs.AccessRemoteAtomic); v != accepted {
		return v
	}
	if c.busy() {
		return invalid
	}
	c.env.Drop(p.Handle)
	op := verbs.WRFetchAdd
	if p.BTH.Opcode == wire.RCCmpSwap {
		op = verbs.WRCmpSwap
	}
	c.msn = seq.Add(c.msn, 1)
	if c.saved.Len() >= int(c.attr.MaxDestRead) {
		c.saved.Pop()
	}
	c.saved.Push(savedAtomic{psn: c.expected, msn: c.msn})
	c.replies.Push(reply{psn: c.expected, n: 1, atomic: true, msn: c.msn})
	c.atomics.Push(atomic{psn: c.expected, op: op, key: h.RKey, va: h.VA, swapAdd: p.SwapAdd, compare: p.Compare,
		number: c.placed.Open()})
	c.visible = c.placed.Next()
	c.expected = seq.Add(c.expected, 1)
	c.runAtomics()
	return accepted
}

// maxRepeats limits the number of repeated replies that wait (assumption: enough for the gaps of a lossy READ).
const maxRepeats = 16

// duplicate answers a request that was carried out before.
func (c *rc) duplicate(p *Packet, info *wire.OpInfo) {
	switch info.Operation {
	case wire.OpSend, wire.OpWrite:
		c.ackDue = true
	case wire.OpReadRequest:
		c.reread(p)
	case wire.OpCmpSwap, wire.OpFetchAdd:
		for i := range c.saved.Len() {
			if s := c.saved.At(i); s.psn == p.BTH.PSN && s.ready && c.repeats < maxRepeats && !c.replyWaits(s.psn, 1) {
				c.repeats++
				c.replies.Push(reply{psn: s.psn, n: 1, atomic: true, repeated: true, ready: true, value: s.value,
					msn: s.msn})
				return
			}
		}
	}
}

// reread repeats a READ or a part of it.
func (c *rc) reread(p *Packet) {
	n := packets(p.RETH.DMALen, c.attr.MTU)
	if seq.Diff(seq.Add(p.BTH.PSN, n), c.expected) > 0 || p.Payload != 0 || c.repeats >= maxRepeats ||
		c.replyWaits(p.BTH.PSN, n) ||
		c.mayAccess(&p.RETH, verbs.AccessRemoteRead) != accepted {
		return
	}
	c.repeats++
	c.replies.Push(reply{psn: p.BTH.PSN, n: n, va: p.RETH.VA, key: p.RETH.RKey, length: p.RETH.DMALen, msn: c.msn,
		after: c.placed.Next(), repeated: true})
}

// replyWaits reports whether the answer with exactly these PSNs is waiting and has not begun to leave.
func (c *rc) replyWaits(psn, n uint32) bool {
	for i := range c.replies.Len() {
		if r := c.replies.At(i); r.psn == psn && r.n == n && r.sent == 0 {
			return true
		}
	}
	return false
}
