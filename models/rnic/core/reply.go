package core

import (
	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// Apply returns the new value of an atomic's operand. It saves the original value for the reply and
// for duplicates.
func (q *QP) Apply(r *Reply, orig uint64) (now uint64) {
	r.Orig = orig
	if all := q.resp.saved; all != nil && all[r.Slot].valid && all[r.Slot].psn == r.PSN {
		all[r.Slot].orig, all[r.Slot].done = orig, true
	}
	switch {
	case r.Add:
		return orig + r.Swap
	case orig == r.Compare:
		return r.Swap
	}
	return orig
}

// duplicate handles a repeated request (IBTA 9.7.5.1.5).
func (q *QP) duplicate(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	q.dev.Duplicates++
	switch i.Operation {
	case wire.OpSend, wire.OpWrite:
		q.nak(wire.ACKNoCredits, plus(r.psn, -1), e)
	case wire.OpReadRequest:
		n := int(p.RETH.DMALen)
		bus, ok := q.dev.Resolve(p.RETH.RKey, p.RETH.VA, n, rnicspec.RemoteRead)
		if !ok || q.Access&rnicspec.RemoteRead == 0 || n > rnicspec.MaxMessage ||
			after(plus(p.PSN, q.packets(n)), r.psn) > 0 {
			e.Drop = DropSequence
			return
		}
		e.Reply = Reply{Kind: ReadReply, Again: true, Syndrome: uint8(wire.ACKNoCredits), PSN: p.PSN, MSN: r.msn,
			Bus: bus, Len: n,
			Key: p.RETH.RKey, VA: p.RETH.VA}
	case wire.OpCmpSwap, wire.OpFetchAdd:
		e.Drop = DropSequence
		if r.saved == nil {
			return
		}
		for i := range r.saved {
			if s := &r.saved[i]; s.valid && s.done && s.psn == p.PSN {
				e.Drop = Kept
				e.Reply = Reply{Kind: AtomicAgain, Again: true, Syndrome: uint8(wire.ACKNoCredits), PSN: p.PSN,
					MSN: r.msn, Orig: s.orig}
				return
			}
		}
	default:
		e.Drop = DropUnknown
	}
}

// ReplyPackets returns the number of packets of a reply.
func (q *QP) ReplyPackets(r *Reply) int {
	if r.Kind == ReadReply {
		return q.packets(r.Len)
	}
	return 1
}

// PlanReply plans packet i of a reply. Its payload is the n bytes from offset off on of the memory
// that the reply reads.
func (q *QP) PlanReply(r *Reply, i int, p *Packet) (off, n int) {
	*p = Packet{AETH: wire.AETHFields{Syndrome: wire.Syndrome(r.Syndrome), MSN: r.MSN}}
	p.DestQP, p.PSN, p.BECN = q.DestQP, plus(r.PSN, i), r.Marked
	switch r.Kind {
	case ReadReply:
		last := q.packets(r.Len) - 1
		switch {
		case last == 0:
			p.Opcode = wire.RCReadRespOnly
		case i == 0:
			p.Opcode = wire.RCReadRespFirst
		case i == last:
			p.Opcode = wire.RCReadRespLast
		default:
			p.Opcode = wire.RCReadRespMid
		}
		off = i * q.PMTU
		return off, min(r.Len-off, q.PMTU)
	case AtomicReply, AtomicAgain:
		p.Opcode, p.Orig = wire.RCAtomicAck, r.Orig
	default:
		p.Opcode = wire.RCAck
	}
	return 0, 0
}
