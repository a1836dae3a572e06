package core

import (
	"nictwin/models/format/ether"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
)

// Attributes holds what software sets when it connects a queue pair.
type Attributes struct {
	DestQP           uint32
	SendPSN, RecvPSN uint32
	Address          Address // address of the peer; a UD queue pair has one per message
	PMTU             int
	Access           rnicspec.Access // access to regions that the peer has through this queue pair
	MaxRead          int             // READs and atomics in flight at most; Connect sets it for the responder, too
	MinRNR           uint8
	Retries          int
	RNRRetry         int // 7: unlimited
	Timeout          int64
	QKey             uint32

	AckEach   bool // every SEND and WRITE packet requests an acknowledgement
	EchoMarks bool // BECN of an ACK says that a packet since the last ACK was marked (ECN)
}

// infinite is the value of RNRRetry for unlimited retries (IBTA 9.7.5.2.8).
const infinite = 7

// QP is a queue pair.
type QP struct {
	Num   uint32
	Type  rnicspec.QPType
	State rnicspec.QPState

	dev  *Device
	resp responder
	req  requester
	Attributes
	recv fifo.Queue[rnicspec.RecvWQE]
	srq  *SRQ // receive entries are taken from it, instead of recv; nil: none
}

// Add makes a queue pair in state Init. It returns nil if the number is in use.
func (d *Device) Add(num uint32, t rnicspec.QPType) *QP {
	q := new(QP)
	if !d.AddAs(q, num, t) {
		return nil
	}
	return q
}

// AddAs makes a queue pair in the caller's memory. It reports false if the number is in use.
func (d *Device) AddAs(q *QP, num uint32, t rnicspec.QPType) bool {
	if d.qps[num] != nil {
		return false
	}
	*q = QP{Num: num, Type: t, State: rnicspec.Init, dev: d}
	d.qps[num] = q
	return true
}

// Connect moves the queue pair to state RTR or RTS, and sets its attributes.
func (q *QP) Connect(s rnicspec.QPState, a Attributes) {
	q.Attributes, q.State = a, s
	q.SendPSN &= psnMask
	q.RecvPSN &= psnMask
	q.req.reset(q)
	q.resp.reset(q)
}

// Start moves a queue pair from RTR to RTS, and sets the attributes of its sending side (IBTA
// 11.2.5.2, table 100). The state of the receiving side stays.
func (q *QP) Start(a Attributes) {
	q.SendPSN, q.MaxRead, q.Retries, q.RNRRetry, q.Attributes.Timeout = a.SendPSN&psnMask, a.MaxRead, a.Retries,
		a.RNRRetry, a.Timeout
	q.Access, q.MinRNR = a.Access, a.MinRNR // this transition may change these attributes, too
	q.State = rnicspec.RTS
	q.req.reset(q)
}

// Completion is a completion entry, with the queue it belongs to.
type Completion struct {
	rnicspec.CQE
	Recv bool
}

// Place is a write of bytes to a bus address.
type Place struct {
	Bus  uint64
	Data []byte // slice of the packet
}

// ReplyKind is the kind of a responder's reply.
type ReplyKind uint8

// Values of ReplyKind.
const (
	NoReply ReplyKind = iota
	AckReply
	ReadReply
	AtomicReply // original value of an atomic that is carried out now
	AtomicAgain // saved original value, for a duplicate of an atomic
)

// Reply is the reply to a request.
type Reply struct {
	Kind     ReplyKind
	Syndrome uint8
	PSN, MSN uint32
	Again    bool // the request was a duplicate
	Marked   bool // BECN is set

	Key uint32 // for READ and atomics: region of the memory accessed
	VA  uint64
	Bus uint64
	Len int

	Add           bool // for atomics: FetchAdd, else CmpSwap
	Swap, Compare uint64
	Slot          int // index of the saved result of an atomic
	Orig          uint64
}

// Effects collects what the caller must do for a packet. It is reused: call Reset before the next packet.
type Effects struct {
	Drop  Drop
	Place []Place
	Done  []Completion
	Reply Reply
	Wait  int64 // after an RNR NAK: picoseconds until QP.Resume; 0: no wait
	Moved bool  // the requester may be able to send more than before
	Ended bool  // the responder has received the last packet of a message
	Acked int   // packets of SENDs and WRITEs that were acknowledged for the first time
	Lost  bool  // the peer has missed a packet

	net [rnicspec.NetBytes]byte
}

// Reset clears the effects.
func (e *Effects) Reset() {
	e.Drop, e.Place, e.Done, e.Reply = Kept, e.Place[:0], e.Done[:0], Reply{}
	e.Wait, e.Moved, e.Ended, e.Acked, e.Lost = 0, false, false, 0, false
}

func (e *Effects) place(bus uint64, b []byte) {
	if len(b) > 0 {
		e.Place = append(e.Place, Place{bus, b})
	}
}

// Mark makes the acknowledgement in e, or else the next one, say that a packet was marked.
func (q *QP) Mark(e *Effects) {
	switch {
	case !q.EchoMarks:
	case e.Reply.Kind == AckReply:
		e.Reply.Marked = true
	default:
		q.resp.echo = true
	}
}

// PostRecv adds a receive entry.
func (q *QP) PostRecv(w rnicspec.RecvWQE, e *Effects) {
	if q.State == rnicspec.Failed {
		q.flushRecv(w, e)
		return
	}
	q.recv.Push(w)
}

// Receives returns the number of receive entries that wait for the queue pair, or for all that share its queue.
func (q *QP) Receives() int { return q.receives().Len() }

// Sends returns the number of work entries that have not ended.
func (q *QP) Sends() int { return q.req.sq.Len() }

// Post adds a work entry. An invalid one fails the queue pair when its turn comes.
func (q *QP) Post(w rnicspec.WQE, e *Effects) {
	if q.State == rnicspec.Failed {
		q.complete(&w, rnicspec.Flushed, e)
		return
	}
	if q.State != rnicspec.RTS {
		q.complete(&w, rnicspec.LocalQP, e)
		return
	}
	bad := !q.Type.Allows(w.Opcode) || w.IsInline() && (w.Opcode.Responds() || w.Length > rnicspec.MaxInline)
	long := w.Length > rnicspec.MaxMessage || w.Opcode.IsAtomic() && w.Length != 8 ||
		q.Type == rnicspec.UD && int(w.Length) > q.PMTU || q.Type == rnicspec.Raw && w.Length > ether.MaxLen
	q.req.push(q, w)
	switch {
	case bad:
		q.req.at(q.req.sq.Len() - 1).status = rnicspec.LocalQP
	case long:
		q.req.at(q.req.sq.Len() - 1).status = rnicspec.LocalLength
	}
}

// complete adds the completion of a work entry to e.
func (q *QP) complete(w *rnicspec.WQE, s rnicspec.Status, e *Effects) {
	if s == rnicspec.OK && !w.Signalled() {
		return
	}
	e.Done = append(e.Done, q.sendCQE(w, s))
}

func (q *QP) sendCQE(w *rnicspec.WQE, s rnicspec.Status) Completion {
	c := Completion{CQE: rnicspec.CQE{ID: w.ID, QPN: q.Num, Opcode: w.Opcode, Status: s}}
	if w.Opcode.Responds() {
		c.Bytes = w.Length
	}
	return c
}

func (q *QP) flushRecv(w rnicspec.RecvWQE, e *Effects) {
	e.Done = append(e.Done,
		Completion{Recv: true, CQE: rnicspec.CQE{ID: w.ID, QPN: q.Num, Opcode: rnicspec.Recv,
			Status: rnicspec.Flushed}})
}

// fail fails the queue pair: the oldest work entry completes with status s, all others are flushed.
// With status OK, the oldest is flushed, too.
func (q *QP) fail(s rnicspec.Status, e *Effects) {
	q.State = rnicspec.Failed
	for q.req.sq.Len() > 0 {
		w := q.req.sq.Pop()
		if s == rnicspec.OK {
			s = rnicspec.Flushed
		}
		q.complete(&w.WQE, s, e)
		s = rnicspec.Flushed
	}
	q.req.cur, q.req.pos, q.req.reads, q.req.waiting = 0, 0, 0, false
	if r := &q.resp; r.hasRecv {
		r.hasRecv = false
		q.flushRecv(r.recv, e)
	}
	for q.recv.Len() > 0 {
		q.flushRecv(q.recv.Pop(), e)
	}
}

// Fail fails the queue pair for a reason outside the transport; its oldest work entry completes
// with status s.
func (q *QP) Fail(s rnicspec.Status, e *Effects) { q.fail(s, e) }

// after returns the distance from PSN b to PSN a; it is negative if a is before b.
func after(a, b uint32) int { return int(int32((a-b)<<8) >> 8) }

func plus(psn uint32, n int) uint32 { return (psn + uint32(n)) & psnMask }

// packets returns the number of packets of a message of n bytes.
func (q *QP) packets(n int) int { return max(1, (n+q.PMTU-1)/q.PMTU) }
