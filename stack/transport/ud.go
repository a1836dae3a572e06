package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/transport/seq"
	"nictwin/stack/verbs"
)

// ud is an unreliable datagram endpoint. Each request is one packet with its own destination.
type ud struct {
	base
	psn uint32
}

var _ Conn = (*ud)(nil)

// Modify changes the state.
func (c *ud) Modify(_ Ps, to verbs.State, a *Attr) error {
	from := c.state
	if err := c.change(to, a); err != nil {
		return err
	}
	switch {
	case to == verbs.QPSReset:
		c.reset()
		c.sending = c.ended
	case to == verbs.QPSErr:
		c.flushSends()
		c.flushRecvs()
	case from == verbs.QPSRTR:
		c.psn = c.attr.SendPSN
	case from == verbs.QPSSQE:
		c.sending = c.posted()
	case to == verbs.QPSSQD:
		c.drained = false
		c.drain(c.sending == c.ended)
	}
	return nil
}

// Input handles a received packet. A datagram that is malformed, has another Q_Key, exceeds the MTU or finds no receive
// request is dropped silently (IBTA 9.8.3). One longer than its receive request fails that request and the endpoint.
func (c *ud) Input(_ Ps, p *Packet) {
	info := p.BTH.Opcode.Info()
	if !c.receives() || !c.wellFormed(p) || info.Transport != wire.TransportUD || !info.Known ||
		p.DETH.QKey != c.spec.QKey || p.Payload > int(c.attr.MTU) {
		c.ignore(p)
		return
	}
	r := c.rq.take()
	if r == nil {
		c.ignore(p)
		return
	}
	header := 0
	if c.spec.GRH {
		header = GRHBytes
	}
	if uint64(header+p.Payload) > r.total {
		c.fault(p, r, verbs.WCLocLenErr)
		return
	}
	c.scatter(r.spans, 0, header+p.Payload)
	if !c.mayStore() {
		c.fault(p, r, verbs.WCLocProtErr)
		return
	}
	if header > 0 {
		c.scatter(r.spans, 0, header)
		n := c.placed.Open()
		c.env.PlaceGRH(p.Handle, c.parts, placedToken(n))
		c.visible = n + 1
		c.scatter(r.spans, uint32(header), p.Payload)
	}
	c.place(p)
	w := Completion{Opcode: verbs.WCRecv, ByteLen: uint32(header + p.Payload), SrcQP: p.DETH.SrcQP, From: p.From,
		Solicited: p.BTH.SE}
	if info.Has(wire.HeaderImmDt) {
		w.Imm, w.HasImm = p.Imm, true
	}
	c.endRecv(r, w)
}

// fault moves the queue pair to ERR, and fails the receive request that a datagram does not fit.
func (c *ud) fault(p *Packet, r *recv, status verbs.Status) {
	c.env.Drop(p.Handle)
	c.endRecv(r, Completion{Status: status})
	c.state = verbs.QPSErr
	c.flushSends()
	c.flushRecvs()
}

// Next builds the next datagram.
func (c *ud) Next(now Ps, o *Out) bool {
	c.paceAt = 0
	r := c.request(c.sending)
	if r == nil || c.state != verbs.QPSRTS {
		return false
	}
	if r.Status == verbs.WCSuccess && r.length > uint32(c.attr.MTU) {
		r.status = verbs.WCLocLenErr
	}
	if r.status != verbs.WCSuccess {
		c.failInTurn(r)
		return false
	}
	ext := wire.DETHSize
	if r.Op.HasImm() {
		ext += wire.ImmDtSize
	}
	if !c.admit(now, frameBytes(r.AH, ext, int(r.length)), 0) {
		return false
	}
	c.encodeDatagram(o, r)
	c.stats.Sent++
	c.psn = seq.Add(c.psn, 1)
	c.sending++
	o.Token = landedToken(c.landed.Open())
	r.done, r.after = true, c.landed.Next()
	return true
}

// encodeDatagram builds the packet of a request.
func (c *ud) encodeDatagram(o *Out, r *request) {
	op, ext := wire.UDSendOnly, wire.DETHSize
	if r.Op.HasImm() {
		op, ext = wire.UDSendOnlyImm, ext+wire.ImmDtSize
	}
	var f bthFlags
	if r.Flags&verbs.SendSolicited != 0 {
		f = flagSolicited
	}
	dst := c.begin(o, r.AH, op, r.RemoteQP&seq.Mask, c.psn, f, ext, int(r.length), 0)
	h := wire.DETHFields{QKey: r.RemoteQKey, SrcQP: c.spec.QPN}
	_ = h.Encode(dst) // cannot fail: dst is long enough, and Validate has checked QPN
	if r.Op.HasImm() {
		imm := wire.ImmDtFields{Imm: r.Imm}
		_ = imm.Encode(dst[wire.DETHSize:])
	}
	if r.Flags&verbs.SendInline != 0 {
		o.Inline = r.inline
	} else {
		o.Spans = append(o.Spans, r.spans...)
	}
}

// Sent ends a request that the NIC has read.
func (c *ud) Sent(_ Ps, t Token) {
	c.landed.End(uint64(t>>1) - 1)
	c.endSends()
	c.drain(c.sending == c.ended)
}

// Placed handles the end of a copy.
func (c *ud) Placed(_ Ps, t Token, status verbs.Status) { c.endPlacing(t, status) }
