package core

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// Outstanding reports whether a packet has left and is not acknowledged, so that a timer must run.
// A change of Steps shows progress.
func (q *QP) Outstanding() bool {
	return q.Type == rnicspec.RC && q.State == rnicspec.RTS && q.req.sq.Len() > 0 && !q.req.waiting &&
		after(q.req.sent, q.req.at(0).first) > 0
}

// Steps counts the requester's progress.
func (q *QP) Steps() uint64 { return q.req.steps }

// Timeout handles an acknowledgement timeout: the requester goes back to the oldest unacknowledged packet, or
// the queue pair fails when its retries are used up.
func (q *QP) Timeout(e *Effects) {
	r := &q.req
	if !q.Outstanding() {
		return
	}
	if r.retries == 0 {
		q.fail(rnicspec.RetryExceeded, e)
		return
	}
	r.retries--
	r.gap = false
	w := r.at(0)
	q.goBack(plus(w.first, w.got))
	e.Moved = true
}

// Resume ends the wait that an RNR NAK has requested.
func (q *QP) Resume() { q.req.waiting = false }

// Answer handles a response.
func (q *QP) Answer(p *Packet, e *Effects) {
	r := &q.req
	if q.Type != rnicspec.RC || q.State != rnicspec.RTS || r.sq.Len() == 0 ||
		after(p.PSN, r.sent) >= 0 || after(p.PSN, plus(r.at(0).first, -1)) < 0 {
		e.Drop = DropStray
		return
	}
	switch p.Opcode.Info().Operation {
	case wire.OpAck:
		q.acknowledge(p, e)
	case wire.OpReadResponse:
		q.readData(p, e)
	case wire.OpAtomicAck:
		q.atomicData(p, e)
	default:
		e.Drop = DropUnknown
	}
}

// acknowledge handles an ACK or a NAK.
func (q *QP) acknowledge(p *Packet, e *Effects) {
	s := p.AETH.Syndrome
	switch s.Kind() {
	case wire.SyndromeACK:
		q.settle(p.PSN, e)
	case wire.SyndromeRNR:
		q.advance(plus(p.PSN, -1), e)
		q.notReady(p, e)
	case wire.SyndromeNAK:
		q.advance(plus(p.PSN, -1), e)
		q.refused(p, e)
	default:
		e.Drop = DropUnknown
	}
}

func (q *QP) notReady(p *Packet, e *Effects) {
	r := &q.req
	if q.State != rnicspec.RTS || r.sq.Len() == 0 || after(p.PSN, r.at(0).first) < 0 || r.waiting {
		return
	}
	if r.rnr == 0 {
		q.failOrRetry(p.PSN, rnicspec.RNRExceeded, e)
		return
	}
	if r.rnr != infinite {
		r.rnr--
	}
	r.waiting, e.Wait = true, p.AETH.Syndrome.RNRDelayPs()
	q.goBack(q.unanswered(p.PSN))
	e.Moved = true
}

// refused handles a NAK, after everything before it was settled.
func (q *QP) refused(p *Packet, e *Effects) {
	r := &q.req
	if q.State != rnicspec.RTS || r.sq.Len() == 0 || after(p.PSN, r.at(0).first) < 0 {
		return
	}
	switch p.AETH.Syndrome {
	case wire.NAKSequence:
		if r.retries == 0 {
			q.fail(rnicspec.RetryExceeded, e)
			return
		}
		r.retries--
		q.goBack(q.unanswered(p.PSN))
		e.Moved, e.Lost = true, true
	case wire.NAKInvalidRequest:
		q.failOrRetry(p.PSN, rnicspec.RemoteInvalid, e)
	case wire.NAKRemoteAccess:
		q.failOrRetry(p.PSN, rnicspec.RemoteAccess, e)
	default:
		q.failOrRetry(p.PSN, rnicspec.RemoteOperation, e)
	}
}

// failOrRetry handles a NAK that reports an error. If the work entry with its PSN is the oldest
// one, the queue pair fails. Otherwise the oldest entry is a READ or atomic whose response was
// lost: it must end first, so it is requested again.
func (q *QP) failOrRetry(psn uint32, s rnicspec.Status, e *Effects) {
	if w := q.req.at(0); after(psn, w.last()) > 0 {
		q.lost(plus(w.first, w.got), e)
		return
	}
	q.fail(s, e)
}

// unanswered returns the PSN to go back to for a NAK: the NAK's own, or that of the first missing
// response of a READ or atomic before it. The missing response was lost, because the responder
// answers in order (IBTA 9.7.5.1.1). If it were skipped, it would never be requested again, and
// would not count among the READs and atomics that occupy the responder's resources.
func (q *QP) unanswered(psn uint32) uint32 {
	if w := q.req.at(0); w.Opcode.Responds() && after(psn, plus(w.first, w.got)) > 0 {
		return plus(w.first, w.got)
	}
	return psn
}

// settle completes all SENDs and WRITEs up to a PSN. It stops at a READ or atomic whose response is
// missing, and requests that again.
func (q *QP) settle(psn uint32, e *Effects) {
	if q.advance(psn, e) {
		w := q.req.at(0)
		q.lost(plus(w.first, w.got), e)
	}
}

// advance completes all SENDs and WRITEs up to a PSN. It stops at a READ or atomic among them whose
// response is missing, and reports whether there is one.
func (q *QP) advance(psn uint32, e *Effects) (missing bool) {
	r := &q.req
	for r.sq.Len() > 0 {
		w := r.at(0)
		n := after(psn, w.first) + 1
		if n <= 0 {
			return false
		}
		if w.Opcode.Responds() {
			return n > w.got
		}
		if n <= w.got {
			return false
		}
		q.progress(e)
		e.Acked += min(n, w.packets) - w.got
		if w.got = min(n, w.packets); r.cur == 0 {
			r.pos = max(r.pos, w.got)
		}
		if w.got < w.packets {
			return false
		}
		q.retire(e)
	}
	return false
}

// progress records that the peer has acknowledged or answered what it had not before.
func (q *QP) progress(e *Effects) {
	q.req.steps++
	q.req.retries, q.req.rnr = q.Retries, q.RNRRetry
	q.req.gap = false
	e.Moved = true
}

// retire completes the oldest work entry successfully.
func (q *QP) retire(e *Effects) {
	r := &q.req
	w := r.sq.Pop()
	if r.cur > 0 {
		r.cur--
	} else {
		r.pos = 0
	}
	if w.requested {
		r.reads--
	}
	q.complete(&w.WQE, rnicspec.OK, e)
	if r.sq.Len() > 0 && r.cur == 0 && r.at(0).status != rnicspec.OK {
		q.fail(r.at(0).status, e)
	}
}

// lost handles a response that arrived while that of an earlier READ or atomic is missing: the
// earlier one is requested again, once for each gap (IBTA 9.7.5.1.1).
func (q *QP) lost(psn uint32, e *Effects) {
	r := &q.req
	if r.gap && r.gapAt == psn {
		return
	}
	r.gap, r.gapAt = true, psn
	if r.retries == 0 {
		q.fail(rnicspec.RetryExceeded, e)
		return
	}
	r.retries--
	q.goBack(psn)
	e.Moved = true
}

// expect settles everything before a response. It returns the READ or atomic that the response
// belongs to, if that is the next one; else nil.
func (q *QP) expect(p *Packet, e *Effects) *work {
	r := &q.req
	q.settleBefore(p.PSN, e)
	if q.State != rnicspec.RTS || r.sq.Len() == 0 {
		e.Drop = DropStray
		return nil
	}
	w := r.at(0)
	d := after(p.PSN, plus(w.first, w.got))
	switch {
	case !w.Opcode.Responds() || !w.requested || d < 0:
		e.Drop = DropStray
	case d > 0:
		e.Drop = DropSequence
		q.lost(plus(w.first, w.got), e)
	default:
		return w
	}
	return nil
}

// settleBefore settles the SENDs and WRITEs that a response acknowledges implicitly.
func (q *QP) settleBefore(psn uint32, e *Effects) {
	r := &q.req
	for r.sq.Len() > 0 && q.State == rnicspec.RTS {
		w := r.at(0)
		if w.Opcode.Responds() || after(psn, w.first) <= 0 {
			return
		}
		before := r.steps
		q.settle(min24(psn, w), e)
		if r.steps == before {
			return
		}
	}
}

// min24 returns the last PSN of an entry, or the PSN before psn if that is earlier (24-bit
// comparison).
func min24(psn uint32, w *work) uint32 {
	if prev := plus(psn, -1); after(prev, w.last()) < 0 {
		return prev
	}
	return w.last()
}

// readData handles a READ response.
func (q *QP) readData(p *Packet, e *Effects) {
	w := q.expect(p, e)
	if w == nil {
		return
	}
	off := w.got * q.PMTU
	want := min(int(w.Length)-off, q.PMTU)
	pos := p.Opcode.Info().Position
	last := w.got == w.packets-1
	if w.Opcode != rnicspec.Read || len(p.Payload) != want || pos.Ends() != last {
		e.Drop = DropUnknown
		q.fail(rnicspec.RemoteOperation, e) // the response is malformed (IBTA 9.9.2.4.2)
		return
	}
	bus, ok := q.dev.Resolve(w.LocalKey, w.LocalVA+uint64(off), want, rnicspec.LocalWrite)
	if !ok {
		q.fail(rnicspec.LocalProtection, e)
		return
	}
	e.place(bus, p.Payload)
	q.progress(e)
	if w.got++; w.got == w.packets {
		q.retire(e)
	}
}

// atomicData handles the response to an atomic. It stores the original value as 8 little-endian
// bytes.
func (q *QP) atomicData(p *Packet, e *Effects) {
	w := q.expect(p, e)
	if w == nil {
		return
	}
	bus, ok := q.dev.Resolve(w.LocalKey, w.LocalVA, int(w.Length), rnicspec.LocalWrite)
	switch {
	case !w.Opcode.IsAtomic():
		e.Drop = DropUnknown
		q.fail(rnicspec.RemoteOperation, e)
		return
	case !ok:
		q.fail(rnicspec.LocalProtection, e)
		return
	}
	binary.LittleEndian.PutUint64(e.net[:8], p.Orig)
	e.place(bus, e.net[:8])
	q.progress(e)
	w.got = w.packets
	q.retire(e)
}
