package rdma

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
)

// qp is a queue pair as software sees it, with rings in the memory of its end. It has one completion queue for sends
// and one for receives.
type qp struct {
	e          *end
	n          uint32
	typ        rnicspec.QPType
	send, recv uint64
	sendLog    uint8
	pi, ri     uint16
	rts        bool // this UD queue pair is already in state RTS
	sends      cq
	recvs      cq
	wqe        [rnicspec.WQEBytes]byte
}

// cq is a completion queue. It calls its function `each` for every completion entry that arrives.
type cq struct {
	e    *end
	addr uint64
	log  uint8
	ci   uint32
	each func(*rnicspec.CQE)
	buf  [rnicspec.CQEBytes]byte
	cqe  rnicspec.CQE
}

// recvLog is log2 of the entries of a receive ring, which suffice for all clients of a server.
const recvLog = 8

func (e *end) newQP(typ rnicspec.QPType, sendLog uint8) *qp {
	m := e.m
	m.bed.qpn++ // queue pair numbers are unique over all machines
	q := &qp{e: e, n: m.bed.qpn, typ: typ, sendLog: sendLog}
	q.send, q.recv = e.alloc(rnicspec.WQEBytes<<sendLog), e.alloc(rnicspec.RecvBytes<<recvLog)
	q.sends.create(e, 2*q.n, sendLog)
	q.recvs.create(e, 2*q.n+1, recvLog)
	m.do(&rnicspec.CreateQP{
		QPN: q.n, Type: typ, SendLog: sendLog, RecvLog: recvLog, SendCQ: 2 * q.n, RecvCQ: 2*q.n + 1,
		SendAddr: q.send, RecvAddr: q.recv, QKey: qkey,
	})
	return q
}

const qkey = 0x11

// connect takes two queue pairs to state RTS, connected to each other.
func connect(a, b *qp, pmtu int) {
	a.ready(b, pmtu)
	b.ready(a, pmtu)
}

// ready takes a queue pair to state RTS. A UD queue pair has no peer; if it is in RTS already, nothing is done.
func (q *qp) ready(peer *qp, pmtu int) {
	if q.rts {
		return
	}
	q.rts = q.typ == rnicspec.UD
	m := rnicspec.ModifyQP{
		QPN: q.n, State: rnicspec.RTS, Handle: q.e.m.to(peer.e.m), PMTU: uint16(pmtu), Access: rnicspec.AllAccess,
		MaxRead: rnicspec.MaxRead,
		Retries: 7, RNRRetry: 7, MinRNR: 1,
	}
	if !q.rts {
		m.DestQP, m.SendPSN, m.RecvPSN = peer.n, 100*q.n, 100*peer.n
	}
	q.e.m.do(&m)
}

func (c *cq) create(e *end, n uint32, log uint8) {
	*c = cq{e: e, log: log, addr: e.alloc(rnicspec.CQEBytes << log)}
	_, err := e.m.card.Memory.Watch(c.addr, rnicspec.CQEBytes<<log, func(uint64, int) { c.takeEntries() })
	e.m.bed.fail(err)
	e.m.do(&rnicspec.CreateCQ{CQN: n, Log: log, Addr: c.addr})
}

// takeEntries takes the completion entries that have arrived.
func (c *cq) takeEntries() {
	for {
		at := c.addr + uint64(c.ci&(1<<c.log-1))*rnicspec.CQEBytes
		c.e.m.bed.fail(c.e.m.card.Memory.Read(at, c.buf[:]))
		if c.cqe.Decode(c.buf[:]); c.cqe.Phase != (c.ci>>c.log&1 == 0) {
			return
		}
		c.ci++
		if c.cqe.Status != rnicspec.OK {
			c.e.m.bed.fail(fmt.Errorf("queue pair %d of %s: %v ended with %v", c.cqe.QPN, c.e.m.card.Name, c.cqe.Opcode,
				c.cqe.Status))
			return
		}
		if c.each != nil {
			c.each(&c.cqe)
		}
	}
}

// put writes a work entry to the ring, without a doorbell.
func (q *qp) put(w *rnicspec.WQE) {
	w.Encode(q.typ, q.wqe[:])
	at := q.send + uint64(q.pi&(1<<q.sendLog-1))*rnicspec.WQEBytes
	q.e.m.bed.fail(q.e.m.card.Memory.Write(at, q.wqe[:]))
	q.pi++
}

// ring rings the doorbell for all entries that method `put` has written.
func (q *qp) ring() {
	q.e.m.bed.fail(q.e.regs.Write32(rnicspec.QPPage(q.n)+rnicspec.PageSend, uint32(q.pi)))
}

// push posts a work entry by MMIO.
func (q *qp) push(w *rnicspec.WQE) {
	q.put(w)
	q.e.m.bed.fail(q.e.regs.Write(rnicspec.QPPage(q.n)+rnicspec.PagePush, q.wqe[:]))
}

// receive writes a receive entry to the ring; ringReceive rings the doorbell for all of them.
func (q *qp) receive(w *rnicspec.RecvWQE) {
	var b [rnicspec.RecvBytes]byte
	w.Encode(b[:])
	at := q.recv + uint64(q.ri&(1<<recvLog-1))*rnicspec.RecvBytes
	q.e.m.bed.fail(q.e.m.card.Memory.Write(at, b[:]))
	q.ri++
}

func (q *qp) ringReceive() {
	q.e.m.bed.fail(q.e.regs.Write32(rnicspec.QPPage(q.n)+rnicspec.PageRecv, uint32(q.ri)))
}
