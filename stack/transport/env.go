package transport

import (
	"math"

	"nictwin/stack/verbs"
)

// Ps is a time or a duration in picoseconds.
type Ps int64

// GRHBytes is the size of the network header that is stored before a datagram (verbs.GRHBytes).
const GRHBytes = verbs.GRHBytes

// Never is the deadline when no timer runs.
const Never Ps = math.MaxInt64

// Handle identifies the buffer of a received packet. The caller assigns it.
type Handle uint64

// Token identifies a copy whose end the caller reports. It is unique among a connection's unfinished copies. Token
// 0 names no copy.
type Token uint64

// Span is a range of memory under a key.
type Span struct {
	Addr uint64
	Len  uint32
	Key  uint32
}

// Part is a piece of a received payload and its destination.
type Part struct {
	Off    int // offset in the payload
	To     Span
	Remote bool // To.Key is a remote key (a WRITE), else a local one
}

// Env carries out the actions that a connection decides on. Its methods must not call the connection; slices and
// pointers are valid during the call only.
type Env interface {
	// Check reports whether the peer may access n bytes at addr; need is the right required. It is not called for 0
	// bytes.
	Check(key uint32, addr uint64, n uint32, need verbs.Access) bool
	// CheckLocal reports whether received bytes may be stored at to, which a receive request names. It is not called
	// for 0 bytes.
	CheckLocal(to Span) bool
	// Place copies parts of a packet's payload; the buffer returns to the caller when the copy has ended. Without parts
	// and with token 0 nothing is copied: the packet had Packet.Landed and belongs to its receive request. It returns
	// true if no completion reported from now on becomes visible before these bytes do: a receive request then
	// completes without waiting for the end of the copy.
	Place(h Handle, parts []Part, t Token) (ordered bool)
	// PlaceGRH copies parts of the network header of the packet under Input, as [GRHBytes] bytes: an IPv4 header is in
	// the last 20, and the bytes before it are undefined (IBTA annex A17.4.5.1). It does not dispose of the packet
	// (Spec.GRH).
	PlaceGRH(h Handle, parts []Part, t Token)
	// Store writes the result of an atomic as 8 bytes in the host's byte order.
	Store(to Span, value uint64, t Token)
	// Keep takes over a packet that arrived too early, until Place or Drop.
	Keep(h Handle)
	// Drop releases a packet that is not needed.
	Drop(h Handle)
	// Buffers returns how many packets of this connection the caller can hold: `share` request packets of the peer, and
	// as many answers to this end's requests. requests and answers are how many more of each it can take now. A share
	// of 0 means no limit. (RC)
	Buffers() (share, requests, answers int)
	// CRC returns the CRC-32C of the first n payload bytes of the packet that Conn.Input is handling (Solar).
	CRC(h Handle, n int) uint32
	// Atomic performs the operation on 8 bytes, indivisibly. Conn.AtomicDone reports its end. A connection has at most
	// one in flight.
	Atomic(op verbs.Opcode, key uint32, addr, swapAdd, compare uint64, t Token)
	// Invalidate disables a key, and reports whether there was one that may be invalidated.
	Invalidate(key uint32) bool
	// Complete reports the end of a request.
	Complete(c *Completion)
	// Async reports an event of the connection.
	Async(e Event)
}

// Event is an asynchronous event (enum ibv_event_type).
type Event uint8

// The events, numbered as in libibverbs.
const (
	EventQPFatal     Event = 1
	EventQPReqErr    Event = 2
	EventQPAccessErr Event = 3
	EventSQDrained   Event = 5
	EventSRQLimit    Event = 15 // reported by RecvQueue.OnLimit, never through Env
	EventLastWQE     Event = 16 // in ERR: this connection takes no more requests from its shared receive queue
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
	Opcode    verbs.WCOpcode // valid if Status is success
	Recv      bool           // the request was a receive request
	ByteLen   uint32         // valid for receives, READs and atomics
	Solicited bool           // receive: the sender set the solicited event bit
	Imm       uint32
	HasImm    bool
	InvKey    uint32 // key that the peer invalidated
	HasInv    bool
	SrcQP     uint32  // UD: queue pair of the sender
	From      Address // UD: the sender's address
}
