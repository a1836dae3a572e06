package core

import (
	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
)

// work is a work entry in flight.
type work struct {
	rnicspec.WQE
	status    rnicspec.Status // error that the completion of the request reports; OK: none
	first     uint32          // PSN of the first packet of the request
	packets   int             // number of PSNs that the request occupies
	got       int             // number of PSNs of the request that were acknowledged or answered
	requested bool            // for READs and atomics: the request has left
}

func (w *work) last() uint32 { return plus(w.first, w.packets-1) }

// requester is the sending side of a queue pair.
type requester struct {
	sq      fifo.Queue[work]
	cur     int    // index in sq of the entry that sends next
	pos     int    // number, from 0, of the next packet of that entry
	next    uint32 // PSN of the next entry to be posted
	sent    uint32 // PSN after the highest one that has left
	reads   int    // READs and atomics that were requested and not answered
	waiting bool   // between an RNR NAK and Resume

	retries, rnr int
	gapAt        uint32 // PSN of the latest lost response that was requested again; valid while field `gap` is set
	gap          bool
	steps        uint64 // counter of progress
}

func (r *requester) reset(q *QP) {
	*r = requester{sq: r.sq, next: q.SendPSN, sent: q.SendPSN, retries: q.Retries, rnr: q.RNRRetry}
	for r.sq.Len() > 0 {
		r.sq.Pop()
	}
}

func (r *requester) at(i int) *work { return r.sq.At(i) }

func (r *requester) push(q *QP, w rnicspec.WQE) {
	n := 1
	if q.Type == rnicspec.RC || q.Type == rnicspec.UC {
		n = q.packets(int(min(w.Length, rnicspec.MaxMessage)))
		if w.Opcode.IsAtomic() {
			n = 1
		}
	}
	r.sq.Push(work{WQE: w, first: r.next, packets: n})
	r.next = plus(r.next, n)
}

// Outgoing is a packet to be sent.
type Outgoing struct {
	Packet
	Addr   *Address // nil: the address handle Handle of the work entry
	Handle uint32

	Key    uint32 // key of the payload's region
	VA     uint64
	Bus    uint64
	Len    int    // bytes of payload
	Inline []byte // payload of an inline entry; nil: the payload is in memory

	Fresh       bool       // packet of a SEND or WRITE that is sent for the first time
	First, Ends bool       // the packet is the first or the last one of its message
	Report      bool       // report Done when the packet has left
	Done        Completion // completion of the message, for UC, UD and raw

	inline [rnicspec.MaxInline]byte // storage of Inline: the work entry may be dequeued before the packet is sent
}

// maxWindow bounds the unacknowledged PSNs, to a quarter of the PSN space, so that duplicates can
// be distinguished from new packets.
const maxWindow = 1 << 22

// Idle reports whether no work entry is in flight.
func (q *QP) Idle() bool { return q.req.sq.Len() == 0 }

// CanSend reports whether Next might return a packet.
func (q *QP) CanSend() bool {
	r := &q.req
	if q.State != rnicspec.RTS || r.waiting || r.cur >= r.sq.Len() {
		return false
	}
	w := r.at(r.cur)
	if w.Flags&rnicspec.FlagFence != 0 && r.reads > 0 && !w.requested {
		return false
	}
	if w.Opcode.Responds() && !w.requested && r.reads >= q.MaxRead {
		return false
	}
	return after(w.last(), r.at(0).first) < maxWindow || r.cur == 0
}

// Fresh reports whether the next packet belongs to a SEND or WRITE and is sent for the first time.
func (q *QP) Fresh() bool {
	r := &q.req
	w := r.at(r.cur)
	return !w.Opcode.Responds() && after(plus(w.first, r.pos), r.sent) >= 0
}

// Local returns the local memory that the next packet reads, or that the response to it will write.
// n is 0 if it uses none.
func (q *QP) Local() (key uint32, va uint64, n int) {
	w := q.req.at(q.req.cur)
	switch {
	case w.IsInline():
		return 0, 0, 0
	case w.Opcode.Responds():
		return w.LocalKey, w.LocalVA, int(w.Length)
	}
	off := q.req.pos * q.PMTU
	return w.LocalKey, w.LocalVA + uint64(off), min(int(w.Length)-off, q.PMTU)
}

// Next plans the next packet. It reports false if none can be sent. An invalid work entry fails the
// queue pair: the result is false, too, and e has the completions.
func (q *QP) Next(o *Outgoing, e *Effects) bool {
	if !q.CanSend() {
		return false
	}
	r := &q.req
	w := r.at(r.cur)
	if w.status != rnicspec.OK {
		if r.cur > 0 {
			return false // earlier entries must end first; see settle
		}
		q.fail(w.status, e)
		return false
	}
	*o = Outgoing{Addr: &q.Address}
	o.DestQP, o.PSN = q.DestQP, plus(w.first, r.pos)
	o.Fresh = q.Fresh()
	var ok bool
	if w.Opcode.Responds() {
		ok = q.request(w, o)
	} else {
		ok = q.segment(w, o)
	}
	if !ok {
		if w.status = rnicspec.LocalProtection; r.cur == 0 {
			q.fail(w.status, e)
		}
		return false
	}
	if over := plus(o.PSN, 1); after(over, r.sent) > 0 {
		r.sent = over
	}
	q.step(w, o, e)
	return true
}

// step advances past a planned packet.
func (q *QP) step(w *work, o *Outgoing, e *Effects) {
	r := &q.req
	if w.Opcode.Responds() {
		if over := plus(w.last(), 1); after(over, r.sent) > 0 {
			r.sent = over
		}
		if !w.requested {
			w.requested = true
			r.reads++
		}
		r.cur, r.pos = r.cur+1, 0
		return
	}
	if r.pos++; r.pos < w.packets {
		return
	}
	r.cur, r.pos = r.cur+1, 0
	if q.Type != rnicspec.RC { // no acknowledgement will arrive, so the entry ends now
		o.Report, o.Done = w.Signalled(), q.sendCQE(&w.WQE, rnicspec.OK)
		r.sq.Pop()
		r.cur--
		r.steps++
	}
}

// request plans the request of an atomic, of a READ, or of the rest of a READ.
func (q *QP) request(w *work, o *Outgoing) bool {
	if _, ok := q.dev.Resolve(w.LocalKey, w.LocalVA, int(w.Length), rnicspec.LocalWrite); !ok {
		return false
	}
	o.First, o.Ends = true, true
	switch w.Opcode {
	case rnicspec.Read:
		off := w.got * q.PMTU
		o.Opcode, o.PSN = wire.RCReadRequest, plus(w.first, w.got)
		o.RETH = wire.RETHFields{VA: w.RemoteVA + uint64(off), RKey: w.RemoteKey, DMALen: w.Length - uint32(off)}
		return true
	case rnicspec.CmpSwap:
		o.Opcode = wire.RCCmpSwap
	case rnicspec.FetchAdd:
		o.Opcode = wire.RCFetchAdd
	}
	o.Atomic = wire.AtomicETHFields{VA: w.RemoteVA, RKey: w.RemoteKey, SwapAdd: w.SwapAdd, Compare: w.Compare}
	return true
}

// segment plans a packet of a SEND or WRITE.
func (q *QP) segment(w *work, o *Outgoing) bool {
	size := q.PMTU
	if q.Type == rnicspec.Raw {
		size = int(w.Length)
	}
	off := q.req.pos * size
	o.Len = min(int(w.Length)-off, size)
	o.First, o.Ends = q.req.pos == 0, q.req.pos == w.packets-1
	if w.IsInline() {
		o.Inline = o.inline[:copy(o.inline[:], w.Inline[off:off+o.Len])]
	} else {
		o.Key, o.VA = w.LocalKey, w.LocalVA+uint64(off)
		var ok bool
		if o.Bus, ok = q.dev.Resolve(o.Key, o.VA, o.Len, 0); !ok {
			return false
		}
	}
	imm := w.Opcode.HasImm() && o.Ends
	if imm {
		o.Imm = w.Imm
	}
	switch q.Type {
	case rnicspec.Raw:
		return true
	case rnicspec.UD:
		o.Opcode, o.DestQP, o.Addr, o.Handle = wire.UDSendOnly, w.DestQP, nil, w.Handle
		if imm {
			o.Opcode = wire.UDSendOnlyImm
		}
		o.DETH = wire.DETHFields{QKey: w.QKey, SrcQP: q.Num}
		o.SE = w.Flags&rnicspec.FlagSolicited != 0
		return true
	}
	write := w.Opcode == rnicspec.Write || w.Opcode == rnicspec.WriteImm
	o.Opcode = opcodeAt(write, o.First, o.Ends, imm)
	if write && o.First {
		o.RETH = wire.RETHFields{VA: w.RemoteVA, RKey: w.RemoteKey, DMALen: w.Length}
	}
	o.SE = o.Ends && w.Flags&rnicspec.FlagSolicited != 0
	if q.Type == rnicspec.UC {
		o.Opcode |= wire.UCSendFirst
	} else {
		o.AckReq = o.Ends || q.AckEach
	}
	return true
}

// opcodeAt returns the RC opcode of a packet of a SEND or WRITE.
func opcodeAt(write, first, ends, imm bool) wire.Opcode {
	op := wire.RCSendMiddle
	switch {
	case first && ends:
		op = wire.RCSendOnly
	case first:
		op = wire.RCSendFirst
	case ends:
		op = wire.RCSendLast
	}
	if ends && imm {
		op++
	}
	if write {
		op += wire.RCWriteFirst
	}
	return op
}

// goBack makes the requester continue with the packet of a PSN, or with the rest of the READ that
// contains it.
func (q *QP) goBack(psn uint32) {
	r := &q.req
	q.dev.Retries++
	r.cur, r.pos, r.reads = 0, 0, 0
	for i := range r.sq.Len() {
		w := r.at(i)
		if after(psn, w.first) < 0 || after(psn, w.last()) > 0 {
			if after(w.last(), psn) < 0 {
				r.cur = i + 1
				if w.Opcode.Responds() && w.requested {
					r.reads++
				}
			} else {
				w.requested = false
			}
			continue
		}
		r.cur, w.requested = i, false
		if !w.Opcode.Responds() {
			r.pos = after(psn, w.first)
		}
	}
}
