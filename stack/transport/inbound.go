package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// inbound is the SEND or WRITE whose packets are arriving.
type inbound struct {
	op    wire.Operation // OpReserved: no message is in progress
	recv  *recv          // SEND: the receive request that the message fills
	off   uint32         // bytes of the message so far
	key   uint32         // WRITE, like the next two fields
	va    uint64
	total uint32
}

// verdict is the responder's decision about a request.
type verdict uint8

const (
	accepted   verdict = iota
	noRecv             // no receive request is posted
	invalid            // answered by NAK: invalid request
	forbidden          // answered by NAK: remote access error
	tooLong            // longer than the receive request; also answered by NAK: invalid request
	localFault         // the receive request names memory that must not be written
)

// deliver handles the next packet of a SEND or WRITE. Unless it returns verdict `accepted`, nothing has changed and the
// caller must drop the packet.
func (b *base) deliver(p *Packet, info *wire.OpInfo) verdict {
	m, starts := &b.in, info.Position.Starts()
	if starts != (m.op == wire.OpReserved) || !starts && m.op != info.Operation {
		return invalid
	}
	if !b.fits(p.Payload, info.Position) {
		return invalid
	}
	if info.Operation == wire.OpSend {
		return b.deliverSend(p, info)
	}
	return b.deliverWrite(p, info)
}

// fits checks a payload's length against the packet's position in its message.
func (b *base) fits(n int, pos wire.Position) bool {
	mtu := int(b.attr.MTU)
	switch pos {
	case wire.PosFirst, wire.PosMiddle:
		return n == mtu
	case wire.PosLast:
		return n > 0 && n <= mtu
	}
	return n <= mtu
}

// deliverSend stores a packet of a SEND in the receive request of its message.
func (b *base) deliverSend(p *Packet, info *wire.OpInfo) verdict {
	if b.spec.Landing > 0 {
		return b.deliverLanded(p, info)
	}
	m := &b.in
	if m.recv == nil { // else recv is that of the message in progress or, on UC, of an abandoned one
		if m.recv = b.rq.take(); m.recv == nil {
			return noRecv
		}
	}
	if info.Position.Starts() {
		m.off = 0
	}
	if uint64(m.off)+uint64(p.Payload) > m.recv.total {
		return tooLong
	}
	if b.scatter(m.recv.spans, m.off, p.Payload); !b.mayStore() {
		return localFault
	}
	ends, inv := info.Position.Ends(), info.Has(wire.HeaderIETH)
	if inv && !b.env.Invalidate(p.Imm) {
		return forbidden
	}
	m.op = wire.OpSend
	b.place(p)
	m.off += uint32(p.Payload)
	if ends {
		c := Completion{Opcode: verbs.WCRecv, ByteLen: m.off, Solicited: p.BTH.SE}
		if info.Has(wire.HeaderImmDt) {
			c.Imm, c.HasImm = p.Imm, true
		}
		if inv {
			c.InvKey, c.HasInv = p.Imm, true
		}
		r := m.recv
		*m = inbound{}
		b.endRecv(r, c)
	}
	return accepted
}

// deliverWrite stores a packet of a WRITE; with immediate data, the last one uses up a receive request.
func (b *base) deliverWrite(p *Packet, info *wire.OpInfo) verdict {
	m := b.in
	if info.Position.Starts() {
		if v := b.mayAccess(&p.RETH, verbs.AccessRemoteWrite); v != accepted {
			return v
		}
		m.off, m.key, m.va, m.total = 0, p.RETH.RKey, p.RETH.VA, p.RETH.DMALen
	}
	end := uint64(m.off) + uint64(p.Payload)
	if ends := info.Position.Ends(); ends != (end == uint64(m.total)) || end > uint64(m.total) {
		return invalid
	}
	imm := info.Has(wire.HeaderImmDt)
	if imm && m.recv == nil && b.rq.Len() == 0 {
		return noRecv
	}
	m.op = wire.OpWrite
	b.parts = append(b.parts[:0], Part{To: Span{Addr: m.va + uint64(m.off), Len: uint32(p.Payload), Key: m.key},
		Remote: true})
	b.place(p)
	m.off = uint32(end)
	if !info.Position.Ends() {
		b.in = m
		return accepted
	}
	b.in = inbound{recv: m.recv}
	if imm {
		r := m.recv
		if b.in.recv = nil; r == nil {
			r = b.rq.take()
		}
		b.endRecv(r, Completion{Opcode: verbs.WCRecvWriteWithImm, ByteLen: m.total, Imm: p.Imm, HasImm: true,
			Solicited: p.BTH.SE})
	}
	return accepted
}

// mayStore reports whether received bytes may be stored in all destinations in b.parts.
func (b *base) mayStore() bool {
	for i := range b.parts {
		if !b.env.CheckLocal(b.parts[i].To) {
			return false
		}
	}
	return true
}

// mayAccess checks a request's access to this end's memory.
func (b *base) mayAccess(h *wire.RETHFields, need verbs.Access) verdict {
	switch {
	case b.spec.Access&need == 0:
		return invalid
	case h.DMALen == 0:
		return accepted
	case !b.env.Check(h.RKey, h.VA, h.DMALen, need):
		return forbidden
	case h.DMALen > maxMessage:
		return invalid
	}
	return accepted
}

// giveUp abandons the message being received; its receive request serves the next one (UC).
func (b *base) giveUp() { b.in = inbound{recv: b.in.recv} }

// deliverLanded handles a SEND of a connection whose receive requests the NIC has (Spec.Landing). The NIC has written
// the payload to the buffer of one of them; if Packet.Landed is not set, there was none.
func (b *base) deliverLanded(p *Packet, info *wire.OpInfo) verdict {
	switch {
	case !info.Position.Starts() || !info.Position.Ends() || p.Payload > b.spec.Landing:
		return tooLong
	case info.Has(wire.HeaderIETH):
		return invalid
	case !p.Landed:
		return noRecv
	}
	b.env.Place(p.Handle, nil, 0)
	c := Completion{ID: p.RecvID, Opcode: verbs.WCRecv, Recv: true, ByteLen: uint32(p.Payload), Solicited: p.BTH.SE}
	if info.Has(wire.HeaderImmDt) {
		c.Imm, c.HasImm = p.Imm, true
	}
	b.done.Push(doneRecv{Completion: c, after: b.visible})
	b.endRecvs()
	return accepted
}
