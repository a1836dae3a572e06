package core

import (
	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// responder is the receiving side of a queue pair.
type responder struct {
	psn   uint32 // next expected PSN
	msn   uint32 // number of messages completed
	echo  bool   // a packet was marked since the last ACK
	naked bool   // a NAK was sent for psn: other packets are ignored until that one arrives

	in      message // kind of the message in progress
	hasRecv bool
	recv    rnicspec.RecvWQE // receive entry in use, if hasRecv
	off     int              // bytes of the message received so far
	bus     uint64           // for WRITEs: bus address of the next byte
	left    int              // for WRITEs: bytes still to come
	size    int              // for WRITEs: bytes of the whole message

	reads, most int // READs and atomics accepted and not answered; bound on these

	saved *[rnicspec.MaxRead]saved // results of the latest atomics; nil before the first atomic
	save  int
}

// message is the kind of the message in progress.
type message uint8

const (
	none message = iota
	sending
	writing
	skipping // UC: ignoring packets until the next message begins
)

// saved is the original value that an atomic returned, for duplicates of its request.
type saved struct {
	psn   uint32
	orig  uint64
	valid bool
	done  bool
}

func (r *responder) reset(q *QP) { *r = responder{psn: q.RecvPSN, most: q.MaxRead} }

// ExpectedPSN returns the PSN that the next request must have.
func (q *QP) ExpectedPSN() uint32 { return q.resp.psn }

// NeedsRecv reports whether a request needs another receive entry.
func (q *QP) NeedsRecv(p *Packet) bool {
	i := p.Opcode.Info()
	if q.Type == rnicspec.RC && p.PSN != q.resp.psn || q.resp.hasRecv {
		return false
	}
	return i.Operation == wire.OpSend && i.Position.Starts() || i.Operation == wire.OpWrite && i.Has(wire.HeaderImmDt)
}

// Target returns the memory that a request addresses; n is 0 if it addresses none.
func (q *QP) Target(p *Packet) (key uint32, va uint64, n int) {
	i := p.Opcode.Info()
	r := &q.resp
	switch {
	case i.Has(wire.HeaderRETH):
		return p.RETH.RKey, p.RETH.VA, int(p.RETH.DMALen)
	case i.Has(wire.HeaderAtomicETH):
		return p.Atomic.RKey, p.Atomic.VA, 8
	case i.Operation == wire.OpSend && r.hasRecv:
		return r.recv.Key, r.recv.VA + uint64(r.off), len(p.Payload)
	case i.Operation == wire.OpSend && i.Position.Starts() && q.Receives() > 0:
		f := q.receives().Front()
		return f.Key, f.VA, len(p.Payload)
	}
	return 0, 0, 0
}

// Respond handles a request.
func (q *QP) Respond(p *Packet, e *Effects) {
	if q.State != rnicspec.RTR && q.State != rnicspec.RTS {
		e.Drop = DropNoQP
		return
	}
	if q.EchoMarks && p.Marked() {
		q.resp.echo = true
	}
	info := p.Opcode.Info()
	want := transports[q.Type]
	if info.Transport != want {
		e.Drop = DropNoQP
		return
	}
	switch q.Type {
	case rnicspec.RC:
		q.reliable(p, &info, e)
	case rnicspec.UC:
		q.unreliable(p, &info, e)
	case rnicspec.UD:
		q.datagram(p, &info, e)
	}
}

// transports maps queue pair types to the transports of their opcodes; a raw queue pair has none.
var transports = [rnicspec.NumQPTypes]wire.Transport{rnicspec.RC: wire.TransportRC, rnicspec.UC: wire.TransportUC,
	rnicspec.UD: wire.TransportUD, rnicspec.Raw: wire.TransportCNP}

// reliable handles a request on an RC queue pair (IBTA 9.7.4).
func (q *QP) reliable(p *Packet, info *wire.OpInfo, e *Effects) {
	r := &q.resp
	switch d := after(p.PSN, r.psn); {
	case d > 0:
		if e.Drop = DropSequence; !r.naked {
			r.naked = true
			q.nak(wire.NAKSequence, r.psn, e)
			e.Drop = Kept
		}
		return
	case d < 0:
		q.duplicate(p, info, e)
		return
	}
	r.naked = false
	if !info.Known || !r.fits(info) || !q.lengthOK(p, info) {
		q.refuse(wire.NAKInvalidRequest, p, e)
		return
	}
	switch info.Operation {
	case wire.OpSend:
		q.receive(p, info, e)
	case wire.OpWrite:
		q.write(p, info, e)
	case wire.OpReadRequest:
		q.read(p, e)
	case wire.OpCmpSwap, wire.OpFetchAdd:
		q.atomic(p, info, e)
	default:
		q.refuse(wire.NAKInvalidRequest, p, e)
	}
}

// fits reports whether a packet may follow its predecessor: it continues the message in progress,
// or begins one while none is in progress.
func (r *responder) fits(i *wire.OpInfo) bool {
	switch r.in {
	case sending:
		return i.Operation == wire.OpSend && !i.Position.Starts()
	case writing:
		return i.Operation == wire.OpWrite && !i.Position.Starts()
	}
	return i.Position.Starts()
}

// lengthOK reports whether the payload has a legal length (IBTA 9.7.4.1.6).
func (q *QP) lengthOK(p *Packet, i *wire.OpInfo) bool {
	n := len(p.Payload)
	if i.Operation != wire.OpSend && i.Operation != wire.OpWrite {
		return n == 0
	}
	switch i.Position {
	case wire.PosFirst, wire.PosMiddle:
		if n != q.PMTU {
			return false
		}
	case wire.PosLast:
		if n < 1 || n > q.PMTU {
			return false
		}
	default:
		if n > q.PMTU {
			return false
		}
	}
	if i.Operation != wire.OpWrite {
		return true
	}
	left := q.resp.left
	if i.Position.Starts() {
		left = int(p.RETH.DMALen)
	}
	if i.Position.Ends() {
		return n == left
	}
	return n < left && left <= rnicspec.MaxMessage
}

// refuse replies with a NAK and fails the queue pair.
func (q *QP) refuse(s wire.Syndrome, p *Packet, e *Effects) {
	q.nak(s, p.PSN, e)
	if r := &q.resp; r.hasRecv {
		r.hasRecv = false
		e.Done = append(e.Done, q.recvCQE(rnicspec.Recv, rnicspec.LocalQP))
	}
	q.fail(rnicspec.OK, e)
}

func (q *QP) nak(s wire.Syndrome, psn uint32, e *Effects) {
	e.Reply = Reply{Kind: AckReply, Syndrome: uint8(s), PSN: psn, MSN: q.resp.msn, Marked: q.resp.echo}
	q.resp.echo = false
}

func (q *QP) recvCQE(o rnicspec.Opcode, s rnicspec.Status) Completion {
	r := &q.resp
	return Completion{Recv: true, CQE: rnicspec.CQE{ID: r.recv.ID, QPN: q.Num, Opcode: o, Status: s,
		Bytes: uint32(r.off)}}
}

// takeRecv takes the next receive entry. If the queue is empty, it replies with an RNR NAK (RC) or drops
// the packet.
func (q *QP) takeRecv(p *Packet, e *Effects) bool {
	r := &q.resp
	if r.hasRecv {
		return true
	}
	if q.Receives() == 0 {
		if q.srq != nil && q.srq.Bad && q.Type == rnicspec.RC {
			q.refuse(wire.NAKRemoteOperational, p, e)
			return false
		}
		if q.Type == rnicspec.RC {
			q.dev.RNRs++
			r.naked = true
			q.nak(wire.RNRSyndrome(q.MinRNR), p.PSN, e)
		} else {
			e.Drop = DropNoBuffer
		}
		return false
	}
	r.recv, r.hasRecv, r.off = q.receives().Pop(), true, 0
	return true
}

// receive handles a packet of a SEND.
func (q *QP) receive(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	if !q.takeRecv(p, e) {
		return
	}
	n := len(p.Payload)
	if r.off+n > int(r.recv.Length) {
		r.hasRecv = false
		e.Done = append(e.Done, q.recvCQE(rnicspec.Recv, rnicspec.LocalLength))
		q.refuse(wire.NAKInvalidRequest, p, e)
		return
	}
	bus, ok := q.dev.Resolve(r.recv.Key, r.recv.VA+uint64(r.off), n, rnicspec.LocalWrite)
	if !ok {
		r.hasRecv = false
		e.Done = append(e.Done, q.recvCQE(rnicspec.Recv, rnicspec.LocalProtection))
		q.refuse(wire.NAKRemoteOperational, p, e)
		return
	}
	if i.Has(wire.HeaderIETH) {
		q.dev.Deregister(p.Inv)
	}
	e.place(bus, p.Payload)
	r.off += n
	r.in = sending
	if i.Position.Ends() {
		q.received(rnicspec.Recv, p, i, e)
	}
	q.accept(p, i, e)
}

// received completes the receive entry in use.
func (q *QP) received(o rnicspec.Opcode, p *Packet, i *wire.OpInfo, e *Effects) {
	c := q.recvCQE(o, rnicspec.OK)
	if i.Has(wire.HeaderImmDt) {
		c.HasImm, c.Imm = true, p.Imm
	}
	q.resp.hasRecv = false
	e.Done = append(e.Done, c)
}

// accept advances past a packet of a SEND or WRITE, and acknowledges it if the packet requests
// that.
func (q *QP) accept(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	r.psn = plus(p.PSN, 1)
	if i.Position.Ends() {
		r.in = none
		r.msn = plus(r.msn, 1)
		e.Ended = true
	}
	if p.AckReq && q.Type == rnicspec.RC {
		q.nak(wire.ACKNoCredits, p.PSN, e)
	}
}

// write handles a packet of a WRITE.
func (q *QP) write(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	n := len(p.Payload)
	if i.Position.Starts() {
		if q.Access&rnicspec.RemoteWrite == 0 {
			q.refuse(wire.NAKInvalidRequest, p, e)
			return
		}
		bus, ok := q.dev.Resolve(p.RETH.RKey, p.RETH.VA, int(p.RETH.DMALen), rnicspec.RemoteWrite)
		if !ok {
			q.refuse(wire.NAKRemoteAccess, p, e)
			return
		}
		r.bus, r.left, r.size = bus, int(p.RETH.DMALen), int(p.RETH.DMALen)
	}
	if imm := i.Has(wire.HeaderImmDt); imm {
		if !q.takeRecv(p, e) {
			return
		}
		r.off = r.size
		q.received(rnicspec.RecvWrite, p, i, e)
	}
	e.place(r.bus, p.Payload)
	r.bus += uint64(n)
	r.left -= n
	r.in = writing
	q.accept(p, i, e)
}

// ReadDone records that a READ or an atomic has been answered: its last response packet has been
// handed on.
func (q *QP) ReadDone() {
	if q.resp.reads > 0 {
		q.resp.reads--
	}
}

// room reports whether one more READ or atomic can be accepted; if not, it refuses the request
// (IBTA 9.7.4.1.9).
func (q *QP) room(p *Packet, e *Effects) bool {
	if q.resp.reads >= q.resp.most {
		q.refuse(wire.NAKInvalidRequest, p, e)
		return false
	}
	return true
}

// read handles a READ request.
func (q *QP) read(p *Packet, e *Effects) {
	r := &q.resp
	n := int(p.RETH.DMALen)
	if q.Access&rnicspec.RemoteRead == 0 {
		q.refuse(wire.NAKInvalidRequest, p, e)
		return
	}
	bus, ok := q.dev.Resolve(p.RETH.RKey, p.RETH.VA, n, rnicspec.RemoteRead)
	if !ok {
		q.refuse(wire.NAKRemoteAccess, p, e)
		return
	}
	if n > rnicspec.MaxMessage {
		q.refuse(wire.NAKInvalidRequest, p, e)
		return
	}
	if !q.room(p, e) {
		return
	}
	r.reads++
	r.psn = plus(p.PSN, q.packets(n))
	r.msn = plus(r.msn, 1)
	e.Ended = true
	e.Reply = Reply{Kind: ReadReply, Syndrome: uint8(wire.ACKNoCredits), PSN: p.PSN, MSN: r.msn, Bus: bus, Len: n,
		Key: p.RETH.RKey, VA: p.RETH.VA}
}

// atomic handles an atomic request.
func (q *QP) atomic(p *Packet, i *wire.OpInfo, e *Effects) {
	r := &q.resp
	if q.Access&rnicspec.RemoteAtomic == 0 || p.Atomic.VA%8 != 0 {
		q.refuse(wire.NAKInvalidRequest, p, e)
		return
	}
	bus, ok := q.dev.Resolve(p.Atomic.RKey, p.Atomic.VA, 8, rnicspec.RemoteAtomic)
	if !ok {
		q.refuse(wire.NAKRemoteAccess, p, e)
		return
	}
	if !q.room(p, e) {
		return
	}
	r.reads++
	r.psn = plus(p.PSN, 1)
	r.msn = plus(r.msn, 1)
	e.Ended = true
	if r.saved == nil {
		r.saved = new([rnicspec.MaxRead]saved)
	}
	r.saved[r.save] = saved{psn: p.PSN, valid: true}
	e.Reply = Reply{
		Kind: AtomicReply, Syndrome: uint8(wire.ACKNoCredits), PSN: p.PSN, MSN: r.msn, Bus: bus, Len: 8,
		Key: p.Atomic.RKey, VA: p.Atomic.VA,
		Add: i.Operation == wire.OpFetchAdd, Swap: p.Atomic.SwapAdd, Compare: p.Atomic.Compare, Slot: r.save,
	}
	r.save = (r.save + 1) % len(r.saved)
}
