package verbs

// PD is a protection domain: only regions, queue pairs, address handles and shared receive queues of the same domain
// may be used together.
type PD uint32

// AH identifies an address handle: the path of datagrams to a peer.
type AH uint32

// MR is a memory region (struct ibv_mr).
type MR struct {
	PD         PD
	Addr       uint64
	Length     uint64
	Access     Access
	LKey, RKey uint32
}

// Context is an open device (struct ibv_context) with its control verbs.
type Context interface {
	QueryDevice(done func(DeviceAttr, error))
	QueryPort(port uint8, done func(PortAttr, error))
	AllocPD(done func(PD, error))
	DeallocPD(pd PD, done func(error))
	RegMR(pd PD, addr, length uint64, access Access, done func(MR, error))
	DeregMR(lkey uint32, done func(error))
	CreateCQ(entries int, done func(CQ, error))
	DestroyCQ(cq CQ, done func(error))
	CreateQP(pd PD, attr QPInitAttr, done func(QP, error))
	ModifyQP(qp QP, attr QPAttr, mask AttrMask, done func(error))
	// QueryQP returns the current state. The other attributes are those that were set, and init's Cap holds the granted
	// sizes.
	QueryQP(qp QP, done func(attr QPAttr, init QPInitAttr, err error))
	DestroyQP(qp QP, done func(error))
	CreateAH(pd PD, attr AHAttr, done func(AH, error))

	// DestroyAH destroys an address handle, which otherwise would keep its protection domain in use.
	DestroyAH(ah AH, done func(error))

	// CreateSRQ, ModifySRQ and DestroySRQ return EOPNOTSUPP if the device lacks FeatureSRQ.
	CreateSRQ(pd PD, attr SRQAttr, done func(SRQ, error))
	ModifySRQ(srq SRQ, limit int, done func(error))
	DestroySRQ(srq SRQ, done func(error))

	// OnAsync sets the handler of asynchronous events (ibv_get_async_event). There is only one; nil drops events.
	OnAsync(f func(AsyncEvent))
}

// SRQOpener is a Context whose device lets several contexts, such as those of processes that share memory, use one
// shared receive queue. libibverbs has no such call.
type SRQOpener interface {
	// OpenSRQ returns this context's handle of a shared receive queue that another context of the device created or
	// opened. It may be posted to, and this context's queue pairs may have it (QPInitAttr.SRQ); each of their
	// completion queues must have room for all requests of the queue. Requests name regions of the queue's protection
	// domain.
	//
	// DestroySRQ closes the handle. Only the context that created the queue can modify and destroy it, and gets EBUSY
	// until the other handles are closed.
	OpenSRQ(srq SRQ) (SRQ, error)
}

// CQ is a completion queue (struct ibv_cq).
type CQ interface {
	// Entries returns the number of completions that the queue holds, at least the number requested.
	Entries() int

	// Poll moves completions to wcs, oldest first, and returns their number. After 0 there may still be some on their
	// way. After an overrun, the completions from before it are returned first, then ErrOverrun.
	Poll(wcs []WC) (int, error)

	// ReqNotify requests one event for the next completion: any, or only a receive that the sender solicited
	// (SendSolicited) or one in error. A request for any completion replaces one for solicited ones, but not the
	// reverse.
	ReqNotify(solicitedOnly bool) error

	// OnEvent sets the handler of the events that ReqNotify requests (ibv_get_cq_event).
	OnEvent(f func())

	// Follow calls f whenever Poll may return more than before, so that a polling loop can sleep in between. stop ends
	// that.
	Follow(f func()) (stop func(), err error)
}

// QP is a queue pair (struct ibv_qp).
type QP interface {
	Num() uint32

	// PostSend posts requests and returns the number posted; if that is not all, request n is the bad one. Requests,
	// their SGEs and inline data belong to the caller again on return.
	PostSend(wrs []SendWR) (n int, err error)

	// PostRecv posts receive requests; its results, and who owns the requests, are as for PostSend.
	PostRecv(wrs []RecvWR) (n int, err error)
}

// SRQ is a shared receive queue.
type SRQ interface {
	PostRecv(wrs []RecvWR) (n int, err error)
}

// SGE is a piece of memory (struct ibv_sge).
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// SendWR is a send request (struct ibv_send_wr). The fields used depend on the operation and the type.
type SendWR struct {
	ID     uint64
	SGEs   []SGE
	Inline []byte // with SendInline, instead of SGEs. libibverbs takes SGEs here, too
	Opcode Opcode
	Flags  SendFlags
	Imm    uint32 // immediate data of SEND_WITH_IMM and RDMA_WRITE_WITH_IMM
	InvKey uint32 // SEND_WITH_INV: key at the peer; LOCAL_INV: local key

	RemoteAddr uint64 // RDMA and atomics: address at the peer
	RKey       uint32

	CompareAdd, Swap uint64 // operands of atomics

	AH         AH // UD: destination, with the next two fields
	RemoteQPN  uint32
	RemoteQKey uint32
}

// Length returns the number of bytes in the request's pieces.
func (w *SendWR) Length() uint64 {
	if w.Flags&SendInline != 0 {
		return uint64(len(w.Inline))
	}
	return total(w.SGEs)
}

func total(s []SGE) (n uint64) {
	for i := range s {
		n += uint64(s[i].Length)
	}
	return n
}

// RecvWR is a receive request (struct ibv_recv_wr).
type RecvWR struct {
	ID   uint64
	SGEs []SGE
}

// WC is a work completion (struct ibv_wc). If Status is not WCSuccess, only ID, Status and QPN are valid.
type WC struct {
	ID      uint64
	Status  Status
	Opcode  WCOpcode
	Flags   WCFlags
	ByteLen uint32 // bytes received or read; UD: including the 40 bytes of the network header
	Imm     uint32 // with WCWithImm
	InvKey  uint32 // with WCWithInv: the key that was invalidated
	QPN     uint32
	SrcQP   uint32 // UD: queue pair of the sender
}

// WCFlags tell which fields of a WC are valid (enum ibv_wc_flags).
type WCFlags uint8

// The flags, numbered as in libibverbs.
const (
	WCGRH     WCFlags = 1 << 0 // the first 40 bytes are the network header
	WCWithImm WCFlags = 1 << 1
	WCWithInv WCFlags = 1 << 3
)

// GRHBytes is the length of the header that a UD receive stores before the message.
const GRHBytes = 40

// AsyncEventType is the type of an asynchronous event (enum ibv_event_type).
type AsyncEventType uint8

// The events, numbered as in libibverbs.
const (
	EventCQErr          AsyncEventType = 0 // the completion queue has overrun
	EventQPFatal        AsyncEventType = 1 // the queue pair went to ERR, and no completion could report the reason
	EventQPReqErr       AsyncEventType = 2 // the peer requested an operation that is invalid
	EventQPAccessErr    AsyncEventType = 3 // the peer requested an access for which it has no right
	EventSQDrained      AsyncEventType = 5
	EventSRQLimit       AsyncEventType = 15
	EventQPLastWQEReach AsyncEventType = 16 // a queue pair in ERR takes no more requests from its SRQ
)

func (t AsyncEventType) String() string {
	return name([]string{0: "CQ error", 1: "local work queue catastrophic error",
		2: "invalid request local work queue error",
		3: "local access violation work queue error", 5: "send queue drained", 15: "SRQ limit reached",
		16: "last WQE reached"}, int(t), "AsyncEventType")
}

// AsyncEvent is an event of an object rather than of a request.
type AsyncEvent struct {
	Type AsyncEventType
	QP   QP  // for events of queue pairs
	CQ   CQ  // for EventCQErr
	SRQ  SRQ // for EventSRQLimit
}
