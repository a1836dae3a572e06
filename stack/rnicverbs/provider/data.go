package provider

import (
	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/verbs"
)

// noKey is a key that no region has. A request that must not be carried out is posted with it, so that it fails in its
// turn.
const noKey = 0

var opcodes = [...]rnicspec.Opcode{
	verbs.WRWrite: rnicspec.Write, verbs.WRWriteImm: rnicspec.WriteImm, verbs.WRSend: rnicspec.Send,
	verbs.WRSendImm: rnicspec.SendImm,
	verbs.WRRead:    rnicspec.Read, verbs.WRCmpSwap: rnicspec.CmpSwap, verbs.WRFetchAdd: rnicspec.FetchAdd,
}

// PostSend implements verbs.QP. It pushes a single request by MMIO, and announces a list with one doorbell.
func (q *QP) PostSend(wrs []verbs.SendWR) (n int, err error) {
	for n = range wrs {
		if err = q.postSend(&wrs[n], len(wrs) == 1); err != nil {
			return n, q.ringFor(n, q.qp.Ring, err)
		}
	}
	return len(wrs), q.ringFor(len(wrs), q.qp.Ring, nil)
}

// ringFor rings the doorbell for the n requests that were posted, and returns err or else the doorbell's error.
func (q *QP) ringFor(n int, ring func() error, err error) error {
	q.countPending()
	if n > 0 {
		if e := ring(); e != nil && err == nil {
			return verbs.Errorf("post", verbs.EIO, "%v", e)
		}
	}
	return err
}

// countPending updates the number of completions that posted requests may still add to the completion queues.
func (q *QP) countPending() {
	if q.shared != nil {
		q.shared.countPending()
	}
	for i, x := range [2]struct {
		cq   *CQ
		used int
	}{{q.send, q.init.Cap.MaxSendWR - q.qp.Room()}, {q.recv, q.init.Cap.MaxRecvWR - q.qp.RecvRoom()}} {
		if i == 1 && q.shared != nil {
			continue
		}
		x.cq.mayArrive += x.used - q.mayArrive[i]
		q.mayArrive[i] = x.used
	}
}

// full reports whether the ring has no place for the completion of another request.
func (c *CQ) full() bool { return c.mayArrive >= 1<<c.log }

// postSend posts a request, by MMIO if push is set.
func (q *QP) postSend(w *verbs.SendWR, push bool) error {
	q.countPending()
	q.queues.SendUsed = q.mayArrive[0]
	if err := q.queues.CheckSend(w); err != nil {
		return err
	}
	if q.send.full() {
		return verbs.ErrSendFull
	}
	e := &q.wqe
	*e = rnicspec.WQE{Opcode: opcodes[w.Opcode], Flags: q.flags(w), ID: w.ID, Imm: w.Imm,
		Length: uint32(min(w.Length(), 1<<32-1))}
	if q.init.Type == verbs.QPTUD {
		e.DestQP, e.Handle, e.QKey = w.RemoteQPN, uint32(w.AH), w.RemoteQKey
	} else {
		e.RemoteVA, e.RemoteKey = w.RemoteAddr, w.RKey
	}
	if w.Flags&verbs.SendInline != 0 {
		copy(e.Inline[:], w.Inline)
	} else if len(w.SGEs) > 0 {
		e.LocalVA, e.LocalKey = w.SGEs[0].Addr, w.SGEs[0].LKey
	}
	if w.Opcode == verbs.WRCmpSwap {
		e.Compare, e.SwapAdd = w.CompareAdd, w.Swap
	} else if w.Opcode == verbs.WRFetchAdd {
		e.SwapAdd = w.CompareAdd
	}
	if q.queues.SendStatus(w, q.c.regions) == verbs.WCLocProtErr {
		e.LocalKey = noKey // the key may be valid in another protection domain, which the NIC does not know
	}
	if push {
		return posted(q.qp.Push(e))
	}
	return posted(q.qp.Post(e))
}

func posted(err error) error {
	if err != nil {
		return verbs.Errorf("post", verbs.EIO, "%v", err)
	}
	return nil
}

// flags returns the flags of a work entry.
func (q *QP) flags(w *verbs.SendWR) (f uint8) {
	if w.Flags&verbs.SendSignaled != 0 || q.init.SignalAll {
		f |= rnicspec.FlagSignalled
	}
	if w.Flags&verbs.SendInline != 0 {
		f |= rnicspec.FlagInline
	}
	if w.Flags&verbs.SendSolicited != 0 {
		f |= rnicspec.FlagSolicited
	}
	if w.Flags&verbs.SendFence != 0 {
		f |= rnicspec.FlagFence
	}
	return f
}

// PostRecv implements verbs.QP.
func (q *QP) PostRecv(wrs []verbs.RecvWR) (n int, err error) {
	for n = range wrs {
		if err = q.postRecv(&wrs[n]); err != nil {
			return n, q.ringFor(n, q.qp.RingRecv, err)
		}
	}
	return len(wrs), q.ringFor(len(wrs), q.qp.RingRecv, nil)
}

// postRecv posts a receive request to the ring.
func (q *QP) postRecv(w *verbs.RecvWR) error {
	q.countPending()
	q.queues.RecvUsed = q.mayArrive[1]
	if err := q.queues.CheckRecv(w); err != nil {
		return err
	}
	if q.recv.full() {
		return verbs.ErrRecvFull
	}
	q.rwqe = q.c.receiveEntry(q.pd, w)
	return posted(q.qp.Recv(&q.rwqe))
}

// receiveEntry converts a receive request of a protection domain.
func (c *Context) receiveEntry(pd verbs.PD, w *verbs.RecvWR) rnicspec.RecvWQE {
	e := rnicspec.RecvWQE{ID: w.ID}
	if len(w.SGEs) > 0 {
		s := &w.SGEs[0]
		e.VA, e.Length, e.Key = s.Addr, s.Length, s.LKey
		if m, ok := c.regions.Find(s.LKey); !ok || m.PD != pd {
			e.Key = noKey
		}
	}
	return e
}

var statuses = [rnicspec.NumStatuses]verbs.Status{
	rnicspec.OK: verbs.WCSuccess, rnicspec.LocalLength: verbs.WCLocLenErr, rnicspec.LocalQP: verbs.WCLocQPOpErr,
	rnicspec.LocalProtection: verbs.WCLocProtErr, rnicspec.Flushed: verbs.WCFlushErr,
	rnicspec.RemoteInvalid: verbs.WCRemInvReqErr,
	rnicspec.RemoteAccess:  verbs.WCRemAccessErr, rnicspec.RemoteOperation: verbs.WCRemOpErr,
	rnicspec.RetryExceeded: verbs.WCRetryExcErr,
	rnicspec.RNRExceeded:   verbs.WCRNRRetryExcErr,
}

var completed = [rnicspec.NumOpcodes]verbs.WCOpcode{
	rnicspec.Send: verbs.WCSend, rnicspec.SendImm: verbs.WCSend, rnicspec.Write: verbs.WCWrite,
	rnicspec.WriteImm: verbs.WCWrite,
	rnicspec.Read:     verbs.WCRead, rnicspec.CmpSwap: verbs.WCCmpSwap, rnicspec.FetchAdd: verbs.WCFetchAdd,
	rnicspec.Recv:      verbs.WCRecv,
	rnicspec.RecvWrite: verbs.WCRecvWriteWithImm,
}

// completion converts a completion entry for applications.
func (q *QP) completion(e *rnicspec.CQE) verbs.WC {
	q.countPending()
	w := verbs.WC{ID: e.ID, Status: verbs.WCGeneralErr, QPN: e.QPN, ByteLen: e.Bytes}
	if e.Status < rnicspec.NumStatuses {
		w.Status = statuses[e.Status]
	}
	if e.Opcode < rnicspec.NumOpcodes {
		w.Opcode = completed[e.Opcode]
	}
	if e.HasImm {
		w.Flags, w.Imm = w.Flags|verbs.WCWithImm, e.Imm
	}
	if q.init.Type == verbs.QPTUD && e.Opcode == rnicspec.Recv && e.Status == rnicspec.OK {
		w.Flags, w.SrcQP = w.Flags|verbs.WCGRH, e.SrcQP
	}
	if w.Status != verbs.WCSuccess {
		q.attr.State, q.queues.State = verbs.QPSErr, verbs.QPSErr
	}
	return w
}
