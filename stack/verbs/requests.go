package verbs

import "fmt"

// Queues holds the state of a queue pair that decides whether a request may be posted. The stack creates it once and
// keeps it up to date, so that checking a request allocates nothing.
type Queues struct {
	Type   QPType
	State  State
	PD     PD
	Cap    QPCap
	HasSRQ bool
	Dev    *DeviceAttr
	AHOf   func(AH) (PD, bool) // UD: returns the protection domain of an address handle

	SendUsed, RecvUsed int // number of outstanding requests
	PathMTU            MTU // UD: length of the longest message
	MaxMessage         uint32
	LowLatency         int // longest message of a low-latency queue pair; 0: an ordinary one

	SignalAll bool // Solar: every request must have a completion, so none may be unsignaled
}

// RequestError is the reason why a request cannot be posted. Its text is only built on demand.
type RequestError struct {
	Errno Errno
	Why   Fault
	Send  bool
	Has   uint64 // the invalid value; what it counts depends on Why
	Want  uint64 // the largest valid value; what it counts depends on Why
}

// Fault is the kind of error in a request that cannot be posted.
type Fault uint8

// Kinds of faults. The comments say what the fields `Has` and `Want` of RequestError hold.
const (
	FaultState      Fault = 1 + iota // the state accepts no such requests; `Has`: the state
	FaultOpcode                      // the type lacks the operation; `Has`: the operation, `Want`: the type
	FaultFeature                     // the device lacks the operation; `Has`: the operation
	FaultSGEs                        // too many pieces of memory; `Has`: their number, `Want`: the limit
	FaultInline                      // too many inline bytes; `Has`: their number, `Want`: the limit
	FaultInlineOp                    // inline data with an operation that sends none; `Has`: the operation
	FaultNoAH                        // the address handle does not exist; `Has`: the handle
	FaultAHDomain                    // the address handle is of another protection domain; `Has`: the handle
	FaultFlags                       // unknown flags; `Has`: the set of flags, `Want`: the valid ones
	FaultSRQ                         // the queue pair has an SRQ
	FaultRemoteQPN                   // remote queue pair number of more than 24 bits; `Has`: the number
	FaultOneSided                    // low-latency queue pair: the request is not a SEND; `Has`: the operation
	FaultLong                        // low-latency queue pair: message too long; `Has`: its bytes, `Want`: the limit
	FaultRecvPieces                  // low-latency queue pair: want one piece of memory; `Has`: the number of pieces
	FaultRecvShort                   // low-latency queue pair: buffer too short; `Has`: its bytes, `Want`: the minimum
	FaultRecvMemory                  // low-latency queue pair: the memory must not be written; `Has`: its key
	FaultUnsignaled                  // Solar: the request asks for no completion
	FaultFence                       // Solar: the request has a fence
	FaultNoRecv                      // Solar: a receive request
)

func (e *RequestError) Error() string {
	verb := "post_recv"
	if e.Send {
		verb = "post_send"
	}
	return fmt.Sprintf("verbs: %s: %v: %s", verb, e.Errno, e.detail())
}

// detail describes the fault and what would be right.
func (e *RequestError) detail() string {
	switch e.Why {
	case FaultState:
		return fmt.Sprintf("the queue pair is in %v: this state accepts no such requests", State(e.Has))
	case FaultOpcode:
		return fmt.Sprintf("operation %v: not supported by queue pairs of type %v", Opcode(e.Has), QPType(e.Want))
	case FaultFeature:
		return fmt.Sprintf("operation %v: the device lacks it", Opcode(e.Has))
	case FaultSGEs:
		return fmt.Sprintf("%d pieces of memory: the queue pair was created with %d", e.Has, e.Want)
	case FaultInline:
		return fmt.Sprintf("%d B inline: the queue pair was created with %d", e.Has, e.Want)
	case FaultInlineOp:
		return fmt.Sprintf("inline data with %v: want an operation that sends data", Opcode(e.Has))
	case FaultNoAH:
		return fmt.Sprintf("address handle %d does not exist", e.Has)
	case FaultAHDomain:
		return fmt.Sprintf("address handle %d: it is of another protection domain", e.Has)
	case FaultFlags:
		return fmt.Sprintf("send flags %#x: want %#x at most", e.Has, e.Want)
	case FaultSRQ:
		return "the queue pair has a shared receive queue: post to that"
	case FaultRemoteQPN:
		return fmt.Sprintf("remote queue pair %#x: want 24 bits", e.Has)
	case FaultUnsignaled:
		return "no completion was requested: requests of a Solar queue pair complete in any order, so each needs one"
	case FaultFence:
		return "a fence: a Solar queue pair has no order"
	case FaultNoRecv:
		return "a Solar queue pair takes no receive requests: blocks go to addresses"
	}
	return e.lowLatencyDetail()
}

func (e *RequestError) lowLatencyDetail() string {
	switch e.Why {
	case FaultOneSided:
		return fmt.Sprintf("operation %v: a low-latency queue pair has SEND and SEND_WITH_IMM only", Opcode(e.Has))
	case FaultLong:
		return fmt.Sprintf("a message of %d B: the low-latency queue pair was created with %d", e.Has, e.Want)
	case FaultRecvPieces:
		return fmt.Sprintf("%d pieces of memory: want 1 on a low-latency queue pair", e.Has)
	case FaultRecvShort:
		return fmt.Sprintf("a buffer of %d B: the low-latency queue pair was created with messages of %d", e.Has,
			e.Want)
	case FaultRecvMemory:
		return fmt.Sprintf("key %#x: want a buffer in a region of the queue pair's domain that may be written "+
			"(low-latency queue pair)", e.Has)
	}
	return "unknown fault"
}

// Unwrap returns the error number, for errors.Is.
func (e *RequestError) Unwrap() error { return e.Errno }

const allFlags = SendFence | SendSignaled | SendSolicited | SendInline

// CheckSend checks whether a send request may be posted. It returns nil, ErrSendFull or a *RequestError.
func (q *Queues) CheckSend(w *SendWR) error {
	bad := func(n Errno, why Fault, has, want uint64) error { return &RequestError{n, why, true, has, want} }
	inline := w.Flags&SendInline != 0
	switch {
	case q.State == QPSReset || q.State == QPSInit || q.State == QPSRTR:
		return bad(EINVAL, FaultState, uint64(q.State), 0)
	case w.Flags&^allFlags != 0:
		return bad(EINVAL, FaultFlags, uint64(w.Flags), uint64(allFlags))
	case !q.Type.Allows(w.Opcode):
		return bad(EINVAL, FaultOpcode, uint64(w.Opcode), uint64(q.Type))
	case w.Opcode.IsAtomic() && !q.Dev.Has(FeatureAtomics), (w.Opcode == WRSendInv || w.Opcode == WRLocalInv) &&
		!q.Dev.Has(FeatureInvalidate), w.Opcode == WRNop && !q.Dev.Has(FeatureNop):
		return bad(EOPNOTSUPP, FaultFeature, uint64(w.Opcode), 0)
	case inline && (w.Opcode == WRRead || w.Opcode.IsLocal() || w.Opcode.IsAtomic()):
		return bad(EINVAL, FaultInlineOp, uint64(w.Opcode), 0)
	case inline && len(w.Inline) > q.Cap.MaxInline:
		return bad(EINVAL, FaultInline, uint64(len(w.Inline)), uint64(q.Cap.MaxInline))
	case !inline && len(w.SGEs) > q.Cap.MaxSendSGE:
		return bad(EINVAL, FaultSGEs, uint64(len(w.SGEs)), uint64(q.Cap.MaxSendSGE))
	case q.LowLatency > 0 && w.Opcode != WRSend && w.Opcode != WRSendImm:
		return bad(EINVAL, FaultOneSided, uint64(w.Opcode), 0)
	case q.LowLatency > 0 && w.Length() > uint64(q.LowLatency):
		return bad(EINVAL, FaultLong, w.Length(), uint64(q.LowLatency))
	}
	if q.Type == QPTSolar {
		switch {
		case w.Flags&SendFence != 0:
			return bad(EINVAL, FaultFence, 0, 0)
		case w.Flags&SendSignaled == 0 && !q.SignalAll:
			return bad(EINVAL, FaultUnsignaled, 0, 0)
		}
	}
	if q.Type == QPTUD {
		switch pd, ok := q.AHOf(w.AH); {
		case !ok:
			return bad(EINVAL, FaultNoAH, uint64(w.AH), 0)
		case pd != q.PD:
			return bad(EINVAL, FaultAHDomain, uint64(w.AH), 0)
		case w.RemoteQPN > max24:
			return bad(EINVAL, FaultRemoteQPN, uint64(w.RemoteQPN), max24)
		}
	}
	if q.SendUsed >= q.Cap.MaxSendWR {
		return ErrSendFull
	}
	return nil
}

// CheckRecv checks whether a receive request may be posted.
func (q *Queues) CheckRecv(w *RecvWR) error {
	switch {
	case q.Type == QPTSolar:
		return &RequestError{Errno: EINVAL, Why: FaultNoRecv}
	case q.HasSRQ:
		return &RequestError{Errno: EINVAL, Why: FaultSRQ}
	case q.State == QPSReset:
		return &RequestError{EINVAL, FaultState, false, uint64(q.State), 0}
	case len(w.SGEs) > q.Cap.MaxRecvSGE:
		return &RequestError{EINVAL, FaultSGEs, false, uint64(len(w.SGEs)), uint64(q.Cap.MaxRecvSGE)}
	case q.LowLatency > 0 && len(w.SGEs) != 1:
		return &RequestError{EINVAL, FaultRecvPieces, false, uint64(len(w.SGEs)), 1}
	case q.LowLatency > 0 && int64(w.SGEs[0].Length) < int64(q.LowLatency):
		return &RequestError{EINVAL, FaultRecvShort, false, uint64(w.SGEs[0].Length), uint64(q.LowLatency)}
	case q.RecvUsed >= q.Cap.MaxRecvWR:
		return ErrRecvFull
	}
	return nil
}

// SendStatus returns the status of a posted request that cannot be carried out, or WCSuccess if it can. Call it when
// the request's turn has come: earlier requests may change the answer.
func (q *Queues) SendStatus(w *SendWR, r *Regions) Status {
	if q.State == QPSErr || q.State == QPSSQE {
		return WCFlushErr
	}
	n := w.Length()
	limit := uint64(q.MaxMessage)
	if q.Type == QPTUD || q.Type == QPTRawPacket {
		limit = uint64(q.PathMTU)
	}
	if n > limit || w.Opcode.IsAtomic() && n != atomicBytes {
		return WCLocLenErr
	}
	if w.Flags&SendInline != 0 || w.Opcode.IsLocal() {
		return WCSuccess
	}
	var need Access
	if w.Opcode == WRRead || w.Opcode.IsAtomic() {
		need = AccessLocalWrite
	}
	for i := range w.SGEs {
		if !r.Local(q.PD, &w.SGEs[i], need) {
			return WCLocProtErr
		}
	}
	return WCSuccess
}

const atomicBytes = 8

// RecvStatus returns the status with which a receive request ends when a message of n bytes is placed into it.
func (q *Queues) RecvStatus(w *RecvWR, n uint64, r *Regions) Status {
	if q.State == QPSErr {
		return WCFlushErr
	}
	if n > total(w.SGEs) {
		return WCLocLenErr
	}
	for i := range w.SGEs {
		s := w.SGEs[i]
		s.Length = uint32(min(uint64(s.Length), n))
		if !r.Local(q.PD, &s, AccessLocalWrite) {
			return WCLocProtErr
		}
		n -= uint64(s.Length)
	}
	return WCSuccess
}

// After returns the state after a completion in error. RC goes to ERR. Of the others the send queue goes to SQE, or the
// queue pair to ERR if a receive request failed or was flushed (IBTA 10.3.1). A Solar request fails alone, unless the
// peer no longer answers.
func (t QPType) After(current State, recv bool, s Status) State {
	switch {
	case t == QPTSolar && s != WCRetryExcErr && s != WCFlushErr:
		return current
	case t != QPTRC && t != QPTSolar && !recv && current == QPSRTS:
		return QPSSQE
	}
	return QPSErr
}
