package verbs

import "fmt"

// Queues is what posting to a queue pair depends on, as the stack has it now. It is filled once and kept up to date, so
// that checking a request allocates nothing.
type Queues struct {
	Type   QPType
	State  State
	PD     PD
	Cap    QPCap
	HasSRQ bool
	Dev    *DeviceAttr
	AHOf   func(AH) (PD, bool) // UD: the protection domain of an address handle

	SendUsed, RecvUsed int // requests outstanding
	PathMTU            MTU // UD: the largest message
	MaxMessage         uint32
}

// RequestError tells why a request cannot be posted. The text is made when it is asked for.
type RequestError struct {
	Errno Errno
	Why   Fault
	Send  bool
	Has   uint64 // the value that does not fit
	Want  uint64 // the most that would
}

// Fault is what is wrong with a request that cannot be posted.
type Fault uint8

// The faults.
const (
	FaultState     Fault = 1 + iota // Has is the state
	FaultOpcode                     // Has is the operation, Want the type
	FaultFeature                    // Has is the operation
	FaultSGEs                       // too many
	FaultInline                     // too long
	FaultInlineOp                   // Has is the operation
	FaultNoAH                       // Has is the handle
	FaultAHDomain                   // Has is the handle
	FaultFlags                      // Has is the flags
	FaultSRQ                        // the queue pair has an SRQ
	FaultRemoteQPN                  // Has is the number
)

func (e *RequestError) Error() string {
	verb := "post_recv"
	if e.Send {
		verb = "post_send"
	}
	return fmt.Sprintf("verbs: %s: %v: %s", verb, e.Errno, e.detail())
}

func (e *RequestError) detail() string {
	switch e.Why {
	case FaultState:
		return fmt.Sprintf("the queue pair is in %v: it takes no such requests there", State(e.Has))
	case FaultOpcode:
		return fmt.Sprintf("operation %v: queue pairs of type %v do not have it", Opcode(e.Has), QPType(e.Want))
	case FaultFeature:
		return fmt.Sprintf("operation %v: the device lacks it", Opcode(e.Has))
	case FaultSGEs:
		return fmt.Sprintf("%d pieces of memory: the queue pair was created with %d", e.Has, e.Want)
	case FaultInline:
		return fmt.Sprintf("%d B inline: the queue pair was created with %d", e.Has, e.Want)
	case FaultInlineOp:
		return fmt.Sprintf("inline data with %v: want an operation that sends data", Opcode(e.Has))
	case FaultNoAH:
		return fmt.Sprintf("address handle %d: there is none", e.Has)
	case FaultAHDomain:
		return fmt.Sprintf("address handle %d: it is of another protection domain", e.Has)
	case FaultFlags:
		return fmt.Sprintf("send flags %#x: want %#x at most", e.Has, e.Want)
	case FaultSRQ:
		return "the queue pair has a shared receive queue: post to that"
	case FaultRemoteQPN:
		return fmt.Sprintf("remote queue pair %#x: want 24 bits", e.Has)
	}
	return "unknown fault"
}

// Unwrap returns the error number, for errors.Is.
func (e *RequestError) Unwrap() error { return e.Errno }

const allFlags = SendFence | SendSignaled | SendSolicited | SendInline

// CheckSend tells whether a send request may be posted: nil, ErrSendFull or a *RequestError.
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
	case w.Opcode.IsAtomic() && !q.Dev.Has(FeatureAtomics), (w.Opcode == WRSendInv || w.Opcode == WRLocalInv) && !q.Dev.Has(FeatureInvalidate):
		return bad(EOPNOTSUPP, FaultFeature, uint64(w.Opcode), 0)
	case inline && (w.Opcode == WRRead || w.Opcode == WRLocalInv || w.Opcode.IsAtomic()):
		return bad(EINVAL, FaultInlineOp, uint64(w.Opcode), 0)
	case inline && len(w.Inline) > q.Cap.MaxInline:
		return bad(EINVAL, FaultInline, uint64(len(w.Inline)), uint64(q.Cap.MaxInline))
	case !inline && len(w.SGEs) > q.Cap.MaxSendSGE:
		return bad(EINVAL, FaultSGEs, uint64(len(w.SGEs)), uint64(q.Cap.MaxSendSGE))
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

// CheckRecv does the same for a receive request.
func (q *Queues) CheckRecv(w *RecvWR) error {
	switch {
	case q.HasSRQ:
		return &RequestError{Errno: EINVAL, Why: FaultSRQ}
	case q.State == QPSReset:
		return &RequestError{EINVAL, FaultState, false, uint64(q.State), 0}
	case len(w.SGEs) > q.Cap.MaxRecvSGE:
		return &RequestError{EINVAL, FaultSGEs, false, uint64(len(w.SGEs)), uint64(q.Cap.MaxRecvSGE)}
	case q.RecvUsed >= q.Cap.MaxRecvWR:
		return ErrRecvFull
	}
	return nil
}

// SendStatus is how a request that was posted has to end before anything of it leaves; WCSuccess if it may be carried
// out. Errors of earlier requests come first: it is asked when the request's turn has come.
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
	if w.Flags&SendInline != 0 || w.Opcode == WRLocalInv {
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

// RecvStatus is how a receive request ends into which a message of n bytes is to be placed.
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

// After is the state that a completion in error leads to: RC goes to ERR; the send queue of the others to SQE, unless a
// receive request failed or was flushed (IBTA 10.3.1).
func (t QPType) After(current State, recv bool) State {
	if t != QPTRC && !recv && current == QPSRTS {
		return QPSSQE
	}
	return QPSErr
}
