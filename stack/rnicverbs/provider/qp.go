package provider

import (
	"errors"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/verbs"
)

// QP implements verbs.QP.
type QP struct {
	c         *Context
	qp        *rnicverbs.QP
	pd        verbs.PD
	attr      verbs.QPAttr
	init      verbs.QPInitAttr
	send      *CQ
	recv      *CQ
	accounted bool              // the queue pair has an account
	drawn     fifo.Queue[Drawn] // up to received messages that no application has taken yet
	shared    *SRQ              // gives receive requests; nil: none
	queues    verbs.Queues
	handle    uint32 // address handle of the peer
	created   bool   // the queue pair was created in the NIC
	busy      bool   // a control verb is in progress
	mayArrive [2]int // this queue pair's part of CQ.mayArrive of its send and receive completion queue

	wqe  rnicspec.WQE
	rwqe rnicspec.RecvWQE
}

var types = map[verbs.QPType]rnicspec.QPType{
	verbs.QPTRC: rnicspec.RC, verbs.QPTUC: rnicspec.UC, verbs.QPTUD: rnicspec.UD, verbs.QPTRawPacket: rnicspec.Raw,
}

// CreateQP implements verbs.Context. The queue pair is created in the NIC on its way to INIT, when port and Q_Key are
// known.
func (c *Context) CreateQP(pd verbs.PD, a verbs.QPInitAttr, done func(verbs.QP, error)) {
	q, err := c.newQP(pd, a)
	if err != nil {
		done(nil, err)
		return
	}
	done(q, nil)
}

// newQP checks the attributes of a queue pair and reserves its number and rings.
func (c *Context) newQP(pd verbs.PD, a verbs.QPInitAttr) (*QP, error) {
	const verb = "create_qp"
	typ, ok := types[a.Type]
	if !ok {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "type %v: want one of %v", a.Type, c.attr.Types)
	}
	if a.SRQ != nil && typ == rnicspec.Raw {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "type %v: want one other than raw packets, or no shared receive "+
			"queue", a.Type)
	}
	if a.LowLatency != 0 {
		return nil, verbs.Errorf(verb, verbs.EOPNOTSUPP, "low-latency queue pairs: this device has none")
	}
	send, err := c.cq(verb, a.SendCQ)
	if err != nil {
		return nil, err
	}
	recv, err := c.cq(verb, a.RecvCQ)
	if err != nil {
		return nil, err
	}
	if err := c.checkCap(verb, &a.Cap); err != nil {
		return nil, err
	}
	shared, srq, err := c.sharedBy(verb, &a)
	if err != nil {
		return nil, err
	}
	if !c.objects.Has(pdObject(pd)) {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "%v does not exist", pdObject(pd))
	}
	sendLog, recvLog := logOf(a.Cap.MaxSendWR), logOf(a.Cap.MaxRecvWR)
	qp, err := c.dev.ReserveQP(rnicverbs.QPConfig{Type: typ, SendLog: uint8(sendLog), RecvLog: uint8(recvLog),
		Send: send.ring, Recv: recv.ring, SRQ: srq, Bus: c.bus})
	if err != nil {
		return nil, verbs.Errorf(verb, verbs.ENOMEM, "%v", err)
	}
	q := &QP{c: c, qp: qp, pd: pd, init: a, send: send, recv: recv, shared: shared}
	uses := []verbs.Object{pdObject(pd), send.object(), recv.object()}
	if shared != nil {
		uses = append(uses, shared.object())
	}
	if err := c.objects.Add(verb, q.object(), uses...); err != nil {
		qp.Release()
		return nil, err
	}
	a.Cap = verbs.QPCap{MaxSendWR: 1 << sendLog, MaxRecvWR: 1 << recvLog, MaxSendSGE: 1, MaxRecvSGE: 1,
		MaxInline: rnicspec.MaxInline}
	if shared != nil {
		a.Cap.MaxRecvWR = 0
		shared.serve(recv, 1)
		shared.qps++
	}
	q.init.Cap = a.Cap
	send.qps[qp.Num()], recv.qps[qp.Num()] = q, q
	q.queues = verbs.Queues{Type: a.Type, PD: pd, Cap: a.Cap, HasSRQ: shared != nil, Dev: &c.attr,
		AHOf: c.ahOf, PathMTU: c.spec.MTU, MaxMessage: rnicspec.MaxMessage}
	return q, nil
}

// sharedBy returns the shared receive queue of a new queue pair, which then has no receive requests of its own; nil: it
// has none.
func (c *Context) sharedBy(verb string, a *verbs.QPInitAttr) (*SRQ, *rnicverbs.SRQ, error) {
	if a.SRQ == nil {
		return nil, nil, nil
	}
	s, err := c.srq(verb, a.SRQ)
	if err != nil {
		return nil, nil, err
	}
	a.Cap.MaxRecvWR = 0
	return s, s.srq, nil
}

// checkCap returns an error if a requested size exceeds the device's limit.
func (c *Context) checkCap(verb string, a *verbs.QPCap) error {
	for _, f := range []struct {
		name     string
		is, most int
	}{
		{"max_send_wr", a.MaxSendWR, c.attr.MaxQPWR}, {"max_recv_wr", a.MaxRecvWR, c.attr.MaxQPWR},
		{"max_send_sge", a.MaxSendSGE, c.attr.MaxSGE}, {"max_recv_sge", a.MaxRecvSGE, c.attr.MaxSGE},
		{"max_inline_data", a.MaxInline, c.attr.MaxInline},
	} {
		if f.is < 0 || f.is > f.most {
			return verbs.Errorf(verb, verbs.EINVAL, "%s is %d: want 0 to %d", f.name, f.is, f.most)
		}
	}
	return nil
}

func (q *QP) object() verbs.Object { return verbs.Object{Kind: verbs.KindQP, Number: q.qp.Num()} }

// qp returns a queue pair of this device, or an error.
func (c *Context) qp(verb string, x verbs.QP) (*QP, error) {
	q, ok := x.(*QP)
	if !ok || q == nil || q.c != c || q.queues.Dev == nil || !c.objects.Has(q.object()) {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "queue pair: want one of this device that was not destroyed")
	}
	if q.busy {
		return nil, verbs.Errorf(verb, verbs.EBUSY, "queue pair %d: another control verb is in progress", q.Num())
	}
	return q, nil
}

// Num implements verbs.QP.
func (q *QP) Num() uint32 { return q.qp.Num() }

// ModifyQP implements verbs.Context.
func (c *Context) ModifyQP(x verbs.QP, a verbs.QPAttr, mask verbs.AttrMask, done func(error)) {
	const verb = "modify_qp"
	q, err := c.qp(verb, x)
	if err != nil {
		done(err)
		return
	}
	next, err := verbs.CheckModify(q.init.Type, q.queues.State, &a, mask, &c.attr)
	if err == nil && mask&verbs.QPPathMTU != 0 && a.PathMTU > c.spec.MTU {
		err = verbs.Errorf(verb, verbs.EINVAL, "PATH_MTU is %d: want %d at most", a.PathMTU, c.spec.MTU)
	}
	if err != nil {
		done(err)
		return
	}
	attr := q.attr
	attr.Merge(&a, mask)
	q.busy = true
	q.apply(next, &attr, func(err error) {
		q.busy = false
		if err == nil {
			attr.State = next
			q.attr, q.queues.State, q.created = attr, next, true
		}
		done(failed(verb, err))
	})
}

// apply makes the NIC move the queue pair to state `next`.
func (q *QP) apply(next verbs.State, a *verbs.QPAttr, done func(error)) {
	switch {
	case next == verbs.QPSInit:
		q.qp.Create(a.Port-1, a.QKey, done)
	case next == verbs.QPSRTR && (q.init.Type == verbs.QPTRC || q.init.Type == verbs.QPTUC):
		q.c.newHandle(a.AH, func(h uint32, err error) {
			if err != nil {
				done(err)
				return
			}
			q.handle = h
			q.modify(rnicspec.RTR, a, func(err error) {
				if err != nil {
					done(err)
					return
				}
				q.openAccount(done)
			})
		})
	case next == verbs.QPSRTR:
		q.modify(rnicspec.RTR, a, done)
	default:
		q.modify(rnicspec.RTS, a, done)
	}
}

// modify makes the NIC move the queue pair to a state, with the attributes that it needs.
func (q *QP) modify(s rnicspec.QPState, a *verbs.QPAttr, done func(error)) {
	m := &rnicspec.ModifyQP{
		QPN: q.Num(), State: s, DestQP: a.DestQPN, SendPSN: a.SQPSN, RecvPSN: a.RQPSN, Handle: q.handle,
		PMTU:   uint16(a.PathMTU),
		Access: rnicspec.Access(a.Access), MaxRead: max(a.MaxDestRdAtomic, 1), MinRNR: a.MinRNRTimer,
		Retries: a.RetryCnt, RNRRetry: a.RNRRetry, Timeout: a.Timeout,
	}
	if s == rnicspec.RTS {
		m.MaxRead = max(a.MaxRdAtomic, 1)
	}
	if m.PMTU == 0 {
		m.PMTU = uint16(q.c.spec.MTU)
	}
	q.c.dev.Try(m, func(_ uint32, err error) { done(err) })
}

// QueryQP implements verbs.Context.
func (c *Context) QueryQP(x verbs.QP, done func(verbs.QPAttr, verbs.QPInitAttr, error)) {
	const verb = "query_qp"
	q, err := c.qp(verb, x)
	if err != nil {
		done(verbs.QPAttr{}, verbs.QPInitAttr{}, err)
		return
	}
	if !q.created {
		done(q.attr, q.init, nil)
		return
	}
	c.dev.Try(&rnicspec.QueryQP{QPN: q.Num()}, func(v uint32, err error) {
		if err != nil {
			done(verbs.QPAttr{}, verbs.QPInitAttr{}, failed(verb, err))
			return
		}
		if rnicspec.QPState(v) == rnicspec.Failed {
			q.attr.State, q.queues.State = verbs.QPSErr, verbs.QPSErr
		}
		done(q.attr, q.init, nil)
	})
}

// DestroyQP implements verbs.Context.
func (c *Context) DestroyQP(x verbs.QP, done func(error)) {
	const verb = "destroy_qp"
	q, err := c.qp(verb, x)
	if err == nil {
		err = c.objects.CanDestroy(verb, q.object())
	}
	if err != nil {
		done(err)
		return
	}
	end := func() {
		q.busy = false
		q.qp.Release()
		if q.accounted {
			c.accounts.Close(q.Num())
		}
		for i, cq := range []*CQ{q.send, q.recv} {
			cq.mayArrive -= q.mayArrive[i]
			delete(cq.qps, q.Num())
			cq.queue.Drop(q.Num())
		}
		if q.shared != nil {
			q.shared.serve(q.recv, -1)
			q.shared.qps--
		}
		done(c.objects.Destroy(verb, q.object()))
	}
	if !q.created {
		end()
		return
	}
	q.busy = true
	q.qp.DestroyIdle(func(err error) {
		q.busy = false
		if err != nil {
			if err = failed(verb, err); errors.Is(err, verbs.EINVAL) {
				err = verbs.Errorf(verb, verbs.EBUSY, "queue pair %d: the NIC is still working on its requests",
					q.Num())
			}
			done(err)
			return
		}
		q.busy = true
		q.send.readAll(func() { q.recv.readAll(end) })
	})
}

var _ verbs.QP = (*QP)(nil)
