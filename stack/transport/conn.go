package transport

import (
	"errors"

	"nictwin/stack/verbs"
)

// Conn is one end of a connection. All of its methods belong to one core.
type Conn interface {
	// Post queues a send request. What it refuses changes nothing.
	Post(now Ps, r *Send) error
	// PostRecv queues a receive request. With a shared queue that is RecvQueue.Post's business.
	PostRecv(r *Recv) error
	// Input takes a received packet for this connection whose ICRC was right.
	Input(now Ps, p *Packet)
	// Next makes the next packet that may leave, or returns false.
	Next(now Ps, o *Out) bool
	// Deadline returns when Expire, then Next are to be called although nothing else has happened.
	Deadline() Ps
	// Expire acts on timers that have run out.
	Expire(now Ps)
	// Placed says that the copies of one Place or Store have ended, and how: WCSuccess, or what the completion will
	// report.
	Placed(now Ps, t Token, status verbs.Status)
	// AtomicDone says that an atomic of Env.Atomic has ended, with the value before, or how it failed.
	AtomicDone(now Ps, t Token, before uint64, status verbs.Status)
	// Sent says that the NIC has read the bytes of a packet that has Out.Token.
	Sent(now Ps, t Token)
	// Modify changes the state; a is needed on the way to RTR and RTS.
	Modify(now Ps, to verbs.State, a *Attr) error
	// SetRights says what the peer may do (QP_ACCESS_FLAGS), and for UD the Q_Key, from now on.
	SetRights(access verbs.Access, qkey uint32)
	State() verbs.State
	Stats() Stats
}

// New returns a connection in state RESET. A nil pacer lets everything leave, a nil queue gives it one of its own.
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

// What Post, PostRecv and Modify refuse. The verbs layer gives the error numbers: ENOMEM for ErrFull, else EINVAL.
var (
	ErrFull   = errors.New("transport: the queue is full")
	ErrState  = errors.New("transport: not in this state of the queue pair")
	ErrOpcode = errors.New("transport: the service has no such operation")
	ErrSpans  = errors.New("transport: more spans than max_sge")
	ErrInline = errors.New("transport: more inline bytes than max_inline, or inline bytes where the operation " +
		"returns data")
	ErrLength = errors.New("transport: a message is longer than 2^31 bytes or 7 million packets, or the length of an " +
		"atomic is not 8")
	ErrFence = errors.New("transport: Solar orders nothing, so there is no fence")
	ErrAH    = errors.New("transport: a datagram without address handle")
)

// Send is a send request (struct ibv_send_wr). It is copied when posted.
type Send struct {
	ID         uint64
	Op         verbs.Opcode
	Flags      verbs.SendFlags
	Spans      []Span // what is sent, or where what is read goes
	Inline     []byte // with SendInline, instead of Spans
	Imm        uint32 // immediate data, or the key that the peer is to invalidate, or the own key of LOCAL_INV
	RemoteAddr uint64
	RKey       uint32
	CompareAdd uint64
	Swap       uint64
	AH         *AH // UD, from here on
	RemoteQP   uint32
	RemoteQKey uint32

	// Status is not success if the caller has found the request to be wrong: it then ends so when its turn has come,
	// without a packet, and as a request in error does. Its spans and lengths are not looked at.
	Status verbs.Status
}

// Recv is a receive request (struct ibv_recv_wr). It is copied when posted.
type Recv struct {
	ID    uint64
	Spans []Span
}

// Stats are counts since the connection was made.
type Stats struct {
	Sent         uint64 // packets of requests and data, without acknowledgements
	Resent       uint64 // of these, those of PSNs that had been sent before
	Acks         uint64 // acknowledgements sent, all kinds
	SequenceNAKs uint64 // NAKs of lost packets sent, or selective acknowledgements
	RNRs         uint64 // RNR NAKs sent
	Duplicates   uint64 // packets received twice
	Early        uint64 // packets received before others that were sent earlier
	Kept         uint64 // of these, those that were kept
	Ignored      uint64 // packets dropped silently: bad header fields, wrong transport, no use in this state
	Timeouts     uint64
	CNPs         uint64 // sent
}
