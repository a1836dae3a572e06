package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// uc is one end of an unreliable connection. A message that lacks a packet is abandoned, and a request ends when the
// NIC has read its last packet.
type uc struct {
	base
	psn      uint32 // next PSN to send
	expected uint32
	packet   uint32 // next packet of the current request
}

var _ Conn = (*uc)(nil)

// Modify changes the state.
func (c *uc) Modify(_ Ps, to verbs.State, a *Attr) error {
	from := c.state
	if err := c.change(to, a); err != nil {
		return err
	}
	switch {
	case to == verbs.QPSReset:
		c.reset()
		*c = uc{base: c.base}
		c.sending = c.ended
	case to == verbs.QPSErr:
		c.flushSends()
		c.flushRecvs()
	case to == verbs.QPSRTR:
		c.expected = c.attr.RecvPSN
	case from == verbs.QPSRTR:
		c.psn = c.attr.SendPSN
	case from == verbs.QPSSQE:
		c.sending = c.posted()
		c.packet = 0
	case to == verbs.QPSSQD:
		c.drained = false
		c.drain(c.idle())
	}
	return nil
}

// Input handles a received packet.
func (c *uc) Input(now Ps, p *Packet) {
	if p.BTH.Opcode == wire.CNPOpcode {
		c.pacer.CNP(now)
		c.env.Drop(p.Handle)
		return
	}
	info := p.BTH.Opcode.Info()
	if !c.receives() || !c.wellFormed(p) || info.Transport != wire.TransportUC || !info.Known {
		c.ignore(p)
		return
	}
	if p.Marked {
		c.marked(now)
	}
	starts := info.Position.Starts()
	if d := seq.Diff(p.BTH.PSN, c.expected); d != 0 || starts {
		if d != 0 {
			c.stats.Early++
		}
		c.giveUp() // IBTA 9.8.2.2.2: a new message begins, or a packet is missing: drop the rest of its message
	}
	c.expected = seq.Add(p.BTH.PSN, 1)
	if !starts && c.in.op == wire.OpReserved {
		c.ignore(p)
		return
	}
	switch c.deliver(p, &info) {
	case accepted:
	case tooLong:
		c.fault(p, verbs.WCLocLenErr)
	case localFault:
		c.fault(p, verbs.WCLocProtErr)
	default:
		c.ignore(p)
		c.giveUp()
	}
}

// fault moves the connection to ERR, and fails the receive request that a packet does not fit.
func (c *uc) fault(p *Packet, status verbs.Status) {
	c.env.Drop(p.Handle)
	c.failRecv(status)
	c.state = verbs.QPSErr
	c.flushSends()
	c.flushRecvs()
}

// Next builds the next packet.
func (c *uc) Next(now Ps, o *Out) bool {
	c.paceAt = 0
	if c.nextCNP(o) {
		return true
	}
	for {
		r := c.request(c.sending)
		if r == nil || c.state != verbs.QPSRTS && (c.state != verbs.QPSSQD || c.packet == 0) {
			return false
		}
		if r.Status != verbs.WCSuccess {
			c.failInTurn(r)
			return false
		}
		if r.Op == verbs.WRLocalInv {
			c.invalidate(r)
			continue
		}
		if r.Op == verbs.WRNop {
			r.done, r.after = true, c.landed.Next()
			c.sending++
			c.endSends()
			continue
		}
		r.n = packets(r.length, c.attr.MTU)
		n := min(r.length-c.packet*uint32(c.attr.MTU), uint32(c.attr.MTU))
		ext := wire.ExtLen(opcodeOf(r.Op, c.packet == 0, c.packet == r.n-1)) // UC's headers are as long as those of RC
		if !c.admit(now, frameBytes(&c.ah, ext, int(n)), 0) {
			return false
		}
		c.encode(o, &c.ah, r, c.packet, c.psn, 0, c.attr.DestQP)
		c.notePacketSent(o, r)
		return true
	}
}

// notePacketSent records that a packet of r has left.
func (c *uc) notePacketSent(o *Out, r *request) {
	c.stats.Sent++
	o.Token = landedToken(c.landed.Open())
	c.psn = seq.Add(c.psn, 1)
	if c.packet++; c.packet == r.n {
		c.packet = 0
		c.sending++
		r.done, r.after = true, c.landed.Next()
	}
}

// invalidate carries out LOCAL_INV.
func (c *uc) invalidate(r *request) {
	r.done, r.after = true, c.landed.Next()
	c.sending++
	if !c.env.Invalidate(r.Imm) {
		r.status = verbs.WCLocQPOpErr
		c.state = verbs.QPSSQE
		c.flushSends()
		return
	}
	c.endSends()
}

// Sent ends a request once the NIC has read its last packet.
func (c *uc) Sent(_ Ps, t Token) {
	c.landed.End(uint64(t>>1) - 1)
	c.endSends()
	c.drain(c.idle())
}

// idle reports whether every request begun has been sent completely.
func (c *uc) idle() bool { return c.sending == c.ended && c.packet == 0 }

// Placed handles the end of a copy.
func (c *uc) Placed(_ Ps, t Token, status verbs.Status) { c.endPlacing(t, status) }

// endPlacing handles the end of a copy that a UC or UD connection had requested; a failed copy ends the connection.
func (b *base) endPlacing(t Token, status verbs.Status) {
	n := uint64(t>>1) - 1
	if status != verbs.WCSuccess && b.receives() {
		for i := range b.done.Len() {
			if d := b.done.At(i); n < d.after {
				d.Status = status
				break
			}
		}
		b.failRecv(status)
		b.state = verbs.QPSErr
		b.env.Async(EventQPFatal)
		b.flushSends()
		b.flushRecvs()
	}
	b.placed.End(n)
	b.endRecvs()
}
