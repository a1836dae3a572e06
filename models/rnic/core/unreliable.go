package core

import (
	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// unreliable handles a packet on a UC queue pair. A message with a missing packet is dropped (IBTA
// 9.8.2.2).
func (q *QP) unreliable(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	gap := p.PSN != r.psn
	r.psn = plus(p.PSN, 1)
	if gap && r.in != none {
		r.in = skipping // keeps the receive entry in use for the next message
		r.off = 0
	}
	if i.Position.Starts() {
		if r.in != none {
			r.off = 0
		}
		r.in = none
	}
	if !i.Known || r.in == skipping || !r.fits(i) || !q.lengthOK(p, i) {
		q.drop(DropSequence, e)
		return
	}
	if i.Operation == wire.OpWrite {
		q.unreliableWrite(p, i, e)
		return
	}
	if !q.takeRecv(p, e) {
		q.drop(DropNoBuffer, e)
		return
	}
	bus, ok := q.dev.Resolve(r.recv.Key, r.recv.VA+uint64(r.off), len(p.Payload), rnicspec.LocalWrite)
	if !ok || r.off+len(p.Payload) > int(r.recv.Length) {
		q.drop(DropNoBuffer, e)
		return
	}
	e.place(bus, p.Payload)
	r.off += len(p.Payload)
	r.in = sending
	if i.Position.Ends() {
		r.in = none
		q.received(rnicspec.Recv, p, i, e)
		e.Ended = true
	}
}

// drop ignores the rest of the message in progress.
func (q *QP) drop(d Drop, e *Effects) {
	e.Drop = d
	q.resp.in, q.resp.off = skipping, 0
}

func (q *QP) unreliableWrite(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	if i.Position.Starts() {
		bus, ok := q.dev.Resolve(p.RETH.RKey, p.RETH.VA, int(p.RETH.DMALen), rnicspec.RemoteWrite)
		if !ok || q.Access&rnicspec.RemoteWrite == 0 {
			q.drop(DropKey, e)
			return
		}
		r.bus, r.left, r.size = bus, int(p.RETH.DMALen), int(p.RETH.DMALen)
	}
	imm := i.Has(wire.HeaderImmDt)
	if imm && !q.takeRecv(p, e) {
		q.drop(DropNoBuffer, e)
		return
	}
	e.place(r.bus, p.Payload)
	r.bus += uint64(len(p.Payload))
	r.left -= len(p.Payload)
	r.in = writing
	if !i.Position.Ends() {
		return
	}
	r.in = none
	e.Ended = true
	if imm {
		r.off = r.size
		q.received(rnicspec.RecvWrite, p, i, e)
	}
}

// datagram handles a packet on a UD queue pair. The IP header is stored in front of the message
// (A17).
func (q *QP) datagram(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	switch {
	case !i.Known || i.Operation != wire.OpSend:
		e.Drop = DropUnknown
	case p.DETH.QKey != q.QKey:
		e.Drop = DropKey
	case len(p.Payload) > q.PMTU:
		e.Drop = DropNoBuffer
	case q.Receives() == 0 || len(p.Payload)+rnicspec.NetBytes > int(q.receives().Front().Length):
		e.Drop = DropNoBuffer
	}
	if e.Drop != Kept {
		return
	}
	f := q.receives().Front()
	n := rnicspec.NetBytes + len(p.Payload)
	bus, ok := q.dev.Resolve(f.Key, f.VA, n, rnicspec.LocalWrite)
	if !ok {
		e.Drop = DropNoBuffer
		return
	}
	r.recv, r.off = q.receives().Pop(), n
	clear(e.net[:])
	if len(p.Net) <= len(e.net) {
		copy(e.net[len(e.net)-len(p.Net):], p.Net)
	}
	e.place(bus, e.net[:])
	e.place(bus+rnicspec.NetBytes, p.Payload)
	c := q.recvCQE(rnicspec.Recv, rnicspec.OK)
	if i.Has(wire.HeaderImmDt) {
		c.HasImm, c.Imm = true, p.Imm
	}
	c.SrcQP = p.DETH.SrcQP
	e.Done = append(e.Done, c)
	e.Ended = true
}

// ReceiveFrame handles a frame for a raw queue pair.
func (q *QP) ReceiveFrame(frame []byte, e *Effects) {
	if q.State != rnicspec.RTR && q.State != rnicspec.RTS {
		e.Drop = DropNoQP
		return
	}
	if q.recv.Len() == 0 || len(frame) > int(q.recv.Front().Length) {
		e.Drop = DropNoBuffer
		return
	}
	f := q.recv.Front()
	bus, ok := q.dev.Resolve(f.Key, f.VA, len(frame), rnicspec.LocalWrite)
	if !ok {
		e.Drop = DropNoBuffer
		return
	}
	q.resp.recv, q.resp.off = q.recv.Pop(), len(frame)
	e.place(bus, frame)
	e.Done = append(e.Done, q.recvCQE(rnicspec.Recv, rnicspec.OK))
	e.Ended = true
}
