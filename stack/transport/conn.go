package transport

import (
	"errors"

	"nictwin/stack/verbs"
)

// Conn is one end of a connection. All of its methods belong to one core.
type Conn interface {
	// Post queues a send request. A refused request changes nothing.
	Post(now Ps, r *Send) error
	// PostRecv queues a receive request. With a shared queue, use RecvQueue.Post instead.
	PostRecv(r *Recv) error
	// Input handles a received packet for this connection, whose ICRC the caller has checked.
	Input(now Ps, p *Packet)
	// Next builds the next packet that may leave, or returns false.
	Next(now Ps, o *Out) bool
	// Deadline returns the time at which to call Expire and then Next if nothing else happens before.
	Deadline() Ps
	// Expire handles timers that have run out.
	Expire(now Ps)
	// Placed reports that the copies of one Place or Store have ended, and their status: WCSuccess, or the status for
	// the completion.
	Placed(now Ps, t Token, status verbs.Status)
	// AtomicDone reports that an atomic of Env.Atomic has ended, with the value before it or the status of its failure.
	AtomicDone(now Ps, t Token, before uint64, status verbs.Status)
	// Sent reports that the NIC has read the bytes of a packet that has Out.Token.
	Sent(now Ps, t Token)
	// Modify changes the state; transitions to RTR and RTS need attributes `a`.
	Modify(now Ps, to verbs.State, a *Attr) error
	// SetRights sets what the peer may do (QP_ACCESS_FLAGS), and for UD the Q_Key.
	SetRights(access verbs.Access, qkey uint32)
	State() verbs.State
	Stats() Stats
}

// New returns a connection in state RESET. A nil pacer never delays a packet; a nil shared queue gives the connection
// its own.
func New(s Spec, env Env, pacer Pacer, shared *RecvQueue) (Conn, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if pacer == nil {
		pacer = Unpaced{}
	}
	b := base{spec: s, env: env, pacer: pacer, rq: shared, shared: shared != nil, spray: s.SprayFrom}
	if shared == nil {
		b.rq = NewRecvQueue(s.MaxRecv, s.MaxSGE)
	}
	switch s.Kind {
	case UC:
		return &uc{base: b}, nil
	case UD:
		return &ud{base: b}, nil
	case Solar:
		return newSolar(b), nil
	}
	return newRC(b), nil
}

// Errors of Post, PostRecv and Modify. The verbs layer maps ErrFull to ENOMEM and all others to EINVAL.
var (
	ErrFull   = errors.New("transport: the queue is full")
	ErrState  = errors.New("transport: not in this state of the queue pair")
	ErrOpcode = errors.New("transport: the service has no such operation")
	ErrSpans  = errors.New("transport: more spans than max_sge")
	ErrInline = errors.New("transport: more inline bytes than max_inline, or inline bytes where the operation " +
		"returns data")
	ErrLength = errors.New("transport: a message is longer than 2^31 bytes or 7 million packets, or the length of an " +
		"atomic is not 8")
	ErrFence = errors.New("transport: Solar has no order, hence no fence")
	ErrAH    = errors.New("transport: a datagram without address handle")
)

// Send is a send request (struct ibv_send_wr). It is copied when posted.
type Send struct {
	ID         uint64
	Op         verbs.Opcode
	Flags      verbs.SendFlags
	Spans      []Span // memory to send, or where to put the data of a READ or atomic
	Inline     []byte // with SendInline, instead of Spans
	Imm        uint32 // immediate data, the key that the peer must invalidate, or for LOCAL_INV the local key
	RemoteAddr uint64
	RKey       uint32
	CompareAdd uint64
	Swap       uint64
	AH         *AH // UD, like the next two fields
	RemoteQP   uint32
	RemoteQKey uint32

	// Status is not success if the caller found the request faulty. The request then fails with that status when its
	// turn comes, without a packet. Its spans and lengths are ignored.
	Status verbs.Status
}

// Recv is a receive request (struct ibv_recv_wr). It is copied when posted.
type Recv struct {
	ID    uint64
	Spans []Span
}

// Stats holds counters since the connection was created.
type Stats struct {
	Sent         uint64 // packets of requests and data, without acknowledgements
	Resent       uint64 // packets in Sent with PSNs that had been sent before
	Acks         uint64 // acknowledgements sent, all kinds
	SequenceNAKs uint64 // NAKs for lost packets, or selective acknowledgements, sent
	RNRs         uint64 // RNR NAKs sent, because no receive request was posted
	Duplicates   uint64 // packets received again after they had been accepted
	Early        uint64 // packets received before earlier ones
	Kept         uint64 // packets in Early that were kept
	Ignored      uint64 // packets dropped silently: bad header fields, wrong transport, or not accepted in this state
	Timeouts     uint64
	CNPs         uint64 // congestion notification packets sent
}
