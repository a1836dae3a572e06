package library

import (
	"nictwin/models/sim/fifo"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/mailbox"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// QP implements verbs.QP: it posts to the pipes of its data core and keeps the application's IDs.
type QP struct {
	c      *Context
	number uint32
	core   int
	pd     verbs.PD
	attr   verbs.QPAttr
	init   verbs.QPInitAttr
	send   *CQ
	recv   *CQ
	srq    *SRQ
	queues verbs.Queues
	busy   bool // a control verb is in flight
	gone   bool

	sends      fifo.Queue[uint64] // IDs of send requests not known to have ended, oldest first
	first      uint64             // number of the oldest of sends
	endedEarly map[uint64]bool    // Solar: requests that ended before the oldest one
	recvs      receives
}

// receives holds the IDs of receive requests that have not ended, by number.
type receives struct {
	ids  map[uint64]uint64
	next uint64
}

func (r *receives) take(number uint64) uint64 {
	id := r.ids[number]
	delete(r.ids, number)
	return id
}

func (r *receives) add(id uint64) {
	r.ids[r.next] = id
	r.next++
}

// CreateQP implements verbs.Context.
func (c *Context) CreateQP(pd verbs.PD, a verbs.QPInitAttr, done func(verbs.QP, error)) {
	const verb = "create_qp"
	q, r, err := c.newQP(verb, pd, a)
	if err != nil {
		done(nil, err)
		return
	}
	c.ask(r, func(a *mailbox.Reply) {
		if err := a.Err(verb); err != nil {
			c.fail(c.kernel.EndQP(q.init.Type, q.number, q.srq != nil))
			done(nil, err)
			return
		}
		c.qps[q.number] = q
		done(q, nil)
	})
}

// newQP checks the attributes of a queue pair, assigns its number, and returns it with the request that creates it on
// the card.
func (c *Context) newQP(verb string, pd verbs.PD, a verbs.QPInitAttr) (*QP, *mailbox.Request, error) {
	attr := c.kernel.Attr()
	known := false
	for _, t := range attr.Types {
		known = known || t == a.Type
	}
	if !known {
		return nil, nil, verbs.Errorf(verb, verbs.EINVAL, "type %v: want one of %v", a.Type, attr.Types)
	}
	q := &QP{c: c, pd: pd, init: a, recvs: receives{ids: map[uint64]uint64{}}}
	var err error
	if q.send, err = c.cq(verb, a.SendCQ); err != nil {
		return nil, nil, err
	}
	if q.recv, err = c.cq(verb, a.RecvCQ); err != nil {
		return nil, nil, err
	}
	uses := []verbs.Object{pdObject(pd), q.send.object(), q.recv.object()}
	srq := uint32(0)
	if a.SRQ != nil {
		if q.srq, err = c.srq(verb, a.SRQ); err != nil {
			return nil, nil, err
		}
		srq = q.srq.number
		uses = append(uses, q.srq.object())
	}
	if a.Type == verbs.QPTSolar && a.SRQ != nil {
		return nil, nil, verbs.Errorf(verb, verbs.EINVAL, "Solar queue pair with a shared receive queue: it takes no "+
			"receive requests")
	}
	if err := checkLowLatency(verb, &a, attr); err != nil {
		return nil, nil, err
	}
	if err := checkCap(verb, &a, attr); err != nil {
		return nil, nil, err
	}
	if err := c.checkPD(verb, pd); err != nil {
		return nil, nil, err
	}
	if q.number, q.core, err = c.kernel.QP(a.Type, srq, a.SRQ != nil, uses...); err != nil {
		return nil, nil, err
	}
	r := &mailbox.Request{Verb: mailbox.CreateQP, Object: q.number, PD: pd, Type: a.Type, Core: uint32(q.core),
		SRQ: srq, HasSRQ: a.SRQ != nil, SignalAll: a.SignalAll, Bytes: uint64(a.LowLatency)}
	r.Cap = [5]uint32{uint32(a.Cap.MaxSendWR), uint32(a.Cap.MaxRecvWR), uint32(a.Cap.MaxSendSGE),
		uint32(a.Cap.MaxRecvSGE), uint32(a.Cap.MaxInline)}
	if r.Send, err = q.send.open(q.core); err == nil {
		r.Recv, err = q.recv.open(q.core)
	}
	if err != nil {
		c.fail(c.kernel.EndQP(a.Type, q.number, a.SRQ != nil))
		return nil, nil, err
	}
	q.queues = verbs.Queues{
		Type: a.Type, PD: pd, Cap: a.Cap, HasSRQ: a.SRQ != nil, Dev: attr, AHOf: c.ahOf,
		PathMTU: c.cfg.Ports[0].ActiveMTU, MaxMessage: c.cfg.Ports[0].MaxMessage,
		LowLatency: a.LowLatency, SignalAll: a.SignalAll,
	}
	return q, r, nil
}

// checkCap returns an error if a requested size exceeds the device's limit.
func checkCap(verb string, i *verbs.QPInitAttr, attr *verbs.DeviceAttr) error {
	a := &i.Cap
	for _, f := range []struct {
		name     string
		is, most int
	}{
		{"max_send_wr", a.MaxSendWR, attr.MaxQPWR}, {"max_recv_wr", a.MaxRecvWR, attr.MaxQPWR},
		{"max_send_sge", a.MaxSendSGE, attr.MaxSGE}, {"max_recv_sge", a.MaxRecvSGE, attr.MaxSGE},
		{"max_inline_data", a.MaxInline, max(attr.MaxInline, i.LowLatency)},
	} {
		if f.is < 0 || f.is > f.most {
			return verbs.Errorf(verb, verbs.EINVAL, "%s is %d: want 0 to %d", f.name, f.is, f.most)
		}
	}
	return nil
}

// qp returns a queue pair of this context, or an error.
func (c *Context) qp(verb string, x verbs.QP) (*QP, error) {
	q, ok := x.(*QP)
	if !ok || q == nil || q.c != c || q.gone {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "queue pair: want one of this device that was not destroyed")
	}
	if q.busy {
		return nil, verbs.Errorf(verb, verbs.EBUSY, "queue pair %d: another control verb is in progress", q.number)
	}
	return q, nil
}

// Num implements verbs.QP.
func (q *QP) Num() uint32 { return q.number }

// ModifyQP implements verbs.Context.
func (c *Context) ModifyQP(x verbs.QP, a verbs.QPAttr, mask verbs.AttrMask, done func(error)) {
	const verb = "modify_qp"
	q, err := c.qp(verb, x)
	if err != nil {
		done(err)
		return
	}
	q.send.pull() // takes errors that have arrived: these may change the state
	q.recv.pull()
	next, err := verbs.CheckModify(q.init.Type, q.queues.State, &a, mask, c.kernel.Attr())
	if err == nil && mask&verbs.QPPathMTU != 0 && a.PathMTU > c.cfg.Ports[0].MaxMTU {
		err = verbs.Errorf(verb, verbs.EINVAL, "PATH_MTU is %d: want %d at most", a.PathMTU, c.cfg.Ports[0].MaxMTU)
	}
	if err != nil {
		done(err)
		return
	}
	attr := q.attr
	attr.Merge(&a, mask)
	if attr.AH.Port == 0 {
		attr.AH.Port = attr.Port
	}
	q.busy = true
	c.askAfter(q.core, &mailbox.Request{Verb: mailbox.ModifyQP, Object: q.number, To: next, Attr: attr},
		func(r *mailbox.Reply) {
			q.busy = false
			err := r.Err(verb)
			if err == nil {
				if next == verbs.QPSReset {
					q.discardAll()
				}
				attr.State = next
				q.attr, q.queues.State = attr, next
			}
			done(err)
		})
}

// discardAll discards all posted requests, without completions.
func (q *QP) discardAll() {
	q.first += uint64(q.sends.Len())
	for q.sends.Len() > 0 {
		q.sends.Pop()
	}
	clear(q.endedEarly)
	clear(q.recvs.ids)
	for _, cq := range [...]*CQ{q.send, q.recv} {
		for cq.next() { // even beyond the queue's capacity: the card replies only after the last completion
		}
		cq.drop(q.number)
	}
}

// QueryQP implements verbs.Context.
func (c *Context) QueryQP(x verbs.QP, done func(verbs.QPAttr, verbs.QPInitAttr, error)) {
	const verb = "query_qp"
	q, err := c.qp(verb, x)
	if err != nil {
		done(verbs.QPAttr{}, verbs.QPInitAttr{}, err)
		return
	}
	c.ask(&mailbox.Request{Verb: mailbox.QueryQP, Object: q.number}, func(r *mailbox.Reply) {
		attr := q.attr
		attr.State = r.State
		done(attr, q.init, r.Err(verb))
	})
}

// DestroyQP implements verbs.Context.
func (c *Context) DestroyQP(x verbs.QP, done func(error)) {
	const verb = "destroy_qp"
	q, err := c.qp(verb, x)
	if err != nil {
		done(err)
		return
	}
	q.gone = true
	c.askAfter(q.core, &mailbox.Request{Verb: mailbox.DestroyQP, Object: q.number}, func(r *mailbox.Reply) {
		if err := r.Err(verb); err != nil {
			done(err)
			return
		}
		q.discardAll()
		delete(c.qps, q.number)
		done(c.kernel.EndQP(q.init.Type, q.number, q.srq != nil))
	})
}

// completed handles the end of a request: it finds the request's ID, ends the earlier send requests that had no
// completion of their own, and after an error changes the state of the queue pair.
func (q *QP) completed(e *pipe.Completion, w *verbs.WC) {
	switch recv := e.Recv; {
	case recv && q.srq != nil:
		w.ID = q.srq.recvs.take(e.ID)
	case recv:
		w.ID = q.recvs.take(e.ID)
	case q.init.Type == verbs.QPTSolar:
		w.ID = q.endedAlone(e.ID)
	default:
		for q.sends.Len() > 0 && q.first <= e.ID { // earlier requests without a completion have ended, too
			w.ID = q.sends.Pop()
			q.first++
		}
	}
	if w.Status != verbs.WCSuccess {
		q.queues.State = q.init.Type.After(q.queues.State, e.Recv, w.Status)
	}
}

// Limits of a queue pair.
const (
	MaxSGE    = data.MaxSGE
	MaxInline = data.MaxInline
)

// SRQ is a shared receive queue.
type SRQ struct {
	c      *Context
	number uint32
	pd     verbs.PD
	attr   verbs.SRQAttr
	gone   bool
	recvs  receives
}

func (s *SRQ) object() verbs.Object { return verbs.Object{Kind: verbs.KindSRQ, Number: s.number} }

func (c *Context) srq(verb string, x verbs.SRQ) (*SRQ, error) {
	s, ok := x.(*SRQ)
	if !ok || s == nil || s.c != c || s.gone {
		return nil, verbs.Errorf(verb, verbs.EINVAL, "shared receive queue: want one of this device that was not "+
			"destroyed")
	}
	return s, nil
}

// CreateSRQ implements verbs.Context.
func (c *Context) CreateSRQ(pd verbs.PD, a verbs.SRQAttr, done func(verbs.SRQ, error)) {
	const verb = "create_srq"
	attr := c.kernel.Attr()
	err := c.checkPD(verb, pd)
	if err == nil && (a.MaxWR < 1 || a.MaxWR > attr.MaxSRQWR || a.MaxSGE < 0 || a.MaxSGE > attr.MaxSRQSGE) {
		err = verbs.Errorf(verb, verbs.EINVAL, "max_wr is %d, max_sge %d: want 1 to %d and 0 to %d", a.MaxWR, a.MaxSGE,
			attr.MaxSRQWR, attr.MaxSRQSGE)
	}
	var n uint32
	if err == nil {
		n, err = c.kernel.SRQ(pdObject(pd))
	}
	if err != nil {
		done(nil, err)
		return
	}
	s := &SRQ{c: c, number: n, pd: pd, attr: a, recvs: receives{ids: map[uint64]uint64{}}}
	r := &mailbox.Request{Verb: mailbox.CreateSRQ, Object: n}
	r.Cap[0], r.Cap[1] = uint32(a.MaxWR), uint32(max(a.MaxSGE, 1))
	c.ask(r, func(r *mailbox.Reply) {
		if err := r.Err(verb); err != nil {
			c.fail(c.kernel.Destroy(verb, s.object()))
			done(nil, err)
			return
		}
		c.srqs[n] = s
		done(s, nil)
	})
}

// ModifySRQ implements verbs.Context.
func (c *Context) ModifySRQ(x verbs.SRQ, limit int, done func(error)) {
	const verb = "modify_srq"
	s, err := c.srq(verb, x)
	if err == nil && (limit < 0 || limit > s.attr.MaxWR) {
		err = verbs.Errorf(verb, verbs.EINVAL, "limit is %d: want 0 to %d", limit, s.attr.MaxWR)
	}
	if err != nil {
		done(err)
		return
	}
	r := &mailbox.Request{Verb: mailbox.ModifySRQ, Object: s.number}
	r.Cap[0] = uint32(limit)
	c.ask(r, func(r *mailbox.Reply) { done(r.Err(verb)) })
}

// DestroySRQ implements verbs.Context.
func (c *Context) DestroySRQ(x verbs.SRQ, done func(error)) {
	const verb = "destroy_srq"
	s, err := c.srq(verb, x)
	if err == nil {
		err = c.kernel.Destroy(verb, s.object())
	}
	if err != nil {
		done(err)
		return
	}
	s.gone = true
	delete(c.srqs, s.number)
	c.askAfter(int(s.number&c.kernel.Mask()), &mailbox.Request{Verb: mailbox.DestroySRQ, Object: s.number},
		func(r *mailbox.Reply) { done(r.Err(verb)) })
}
