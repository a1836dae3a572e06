package transport

import (
	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

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
	b.done.Push(doneRecv{Completion: c, after: b.placed.Next()})
	b.endRecvs()
	return accepted
}
