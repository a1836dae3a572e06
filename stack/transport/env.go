package transport

import (
	"math"

	"nictwin/stack/verbs"
)

// Ps is a time or a duration in picoseconds.
type Ps int64

// GRHBytes is the room of a network header before a datagram (verbs.GRHBytes).
const GRHBytes = verbs.GRHBytes

// Never is the deadline of what waits for no time.
const Never Ps = math.MaxInt64

// Handle is the caller's name for the buffer of a received packet.
type Handle uint64

// Token names a copy whose end the caller reports, among all of a connection that have not ended. 0 names none.
type Token uint64

// Span is a range of memory under a key.
type Span struct {
	Addr uint64
	Len  uint32
	Key  uint32
}

// Part is a piece of a received payload and where it belongs.
type Part struct {
	Off    int // from the begin of the payload
	To     Span
	Remote bool // To.Key is a remote key (a WRITE), else a local one
}

// Env carries out what a connection decides. Its methods must not call the
// connection; slices and pointers are valid during the call.
type Env interface {
	// Check reports whether the peer may do what need says with n bytes at addr. It is not asked about 0 bytes.
	Check(key uint32, addr uint64, n uint32, need verbs.Access) bool
	// CheckLocal reports whether what arrives may be stored there, in memory that a receive request names. It is not
	// asked about 0 bytes.
	CheckLocal(to Span) bool
	// Place copies parts of a packet's payload; the buffer is the caller's again when the copy has ended. Without
	// parts, and with token 0: the packet is the one of its receive request, which had Packet.Landed, and nothing is
	// to be copied.
	Place(h Handle, parts []Part, t Token)
	// PlaceGRH copies parts of the network header of the packet under Input, as [GRHBytes] bytes: of IPv4 the last 20
	// hold the header, and what is before it is free (IBTA annex A17.4.5.1). The packet is still to be disposed of
	// (Spec.GRH).
	PlaceGRH(h Handle, parts []Part, t Token)
	// Store writes the result of an atomic as 8 bytes in the host's byte order.
	Store(to Span, value uint64, t Token)
	// Keep preserves a packet that came too early, until Place or Drop.
	Keep(h Handle)
	// Drop ends a packet of which nothing is wanted.
	Drop(h Handle)
	// CRC returns the CRC-32C of the first n payload bytes of the packet under Input (Solar).
	CRC(h Handle, n int) uint32
	// Atomic performs the operation on 8 bytes, undivided. Its end is reported by Conn.AtomicDone. A connection has
	// one under way.
	Atomic(op verbs.Opcode, key uint32, addr, swapAdd, compare uint64, t Token)
	// Invalidate takes a key out of use, and reports whether there was one that may be.
	Invalidate(key uint32) bool
	// Complete reports the end of a request.
	Complete(c *Completion)
	// Async reports an event of the connection.
	Async(e Event)
}

// Event is what is reported apart from completions (enum ibv_event_type).
type Event uint8

// The events, numbered as in libibverbs.
const (
	EventQPFatal     Event = 1
	EventQPReqErr    Event = 2
	EventQPAccessErr Event = 3
	EventSQDrained   Event = 5
	EventSRQLimit    Event = 15 // RecvQueue.OnLimit tells it; no Env sees it
	EventLastWQE     Event = 16 // in ERR, with a shared receive queue: nothing more is taken from that
)

func (e Event) String() string {
	switch e {
	case EventQPFatal:
		return "QP_FATAL"
	case EventQPReqErr:
		return "QP_REQ_ERR"
	case EventQPAccessErr:
		return "QP_ACCESS_ERR"
	case EventSQDrained:
		return "SQ_DRAINED"
	case EventSRQLimit:
		return "SRQ_LIMIT_REACHED"
	case EventLastWQE:
		return "QP_LAST_WQE_REACHED"
	}
	return "Event(?)"
}

// Completion is the end of a request (struct ibv_wc).
type Completion struct {
	ID        uint64
	Status    verbs.Status
	Opcode    verbs.WCOpcode // valid when Status is success
	Recv      bool           // of a receive request
	ByteLen   uint32         // receives, READs and atomics
	Solicited bool           // receive: its sender asked for an event
	Imm       uint32
	HasImm    bool
	InvKey    uint32 // key that the peer took out of use
	HasInv    bool
	SrcQP     uint32  // UD
	From      Address // UD: who sent it
}
