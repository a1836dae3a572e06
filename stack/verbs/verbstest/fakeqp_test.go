package verbstest

import (
	"encoding/binary"
	"slices"

	"nictwin/stack/verbs"
)

// fakeQP is a queue pair of a fakeDevice.
type fakeQP struct {
	p          *fakeDevice
	n          uint32
	attr       verbs.QPAttr
	init       verbs.QPInitAttr
	q          verbs.Queues
	send, recv *fakeCQ
	sq         []verbs.SendWR
	rq         *fakeSRQ
}

func (p *fakeDevice) CreateQP(pd verbs.PD, a verbs.QPInitAttr, done func(verbs.QP, error)) {
	send, ok := a.SendCQ.(*fakeCQ)
	recv, also := a.RecvCQ.(*fakeCQ)
	c := a.Cap
	if !ok || !also || recv.p != p || !slices.Contains(p.attr.Types, a.Type) ||
		max(c.MaxSendWR, c.MaxRecvWR) > p.attr.MaxQPWR ||
		max(c.MaxSendSGE, c.MaxRecvSGE) > p.attr.MaxSGE || c.MaxInline > p.attr.MaxInline || c.MaxSendSGE < 0 {
		done(nil, verbs.Errorf("create_qp", verbs.EINVAL, "%+v", a))
		return
	}
	if a.LowLatency != 0 && !p.hasFault("slow for low latency") {
		done(nil, verbs.Errorf("create_qp", verbs.EOPNOTSUPP, "low-latency queue pairs: this device has none"))
		return
	}
	uses := []verbs.Object{pdOf(pd), send.object(), recv.object()}
	q := &fakeQP{p: p, init: a, send: send, recv: recv, rq: &fakeSRQ{p: p}}
	if a.SRQ != nil {
		q.rq = a.SRQ.(*fakeSRQ)
		uses = append(uses, verbs.Object{Kind: verbs.KindSRQ, Number: q.rq.n})
	}
	var err error
	if q.n, err = p.objects.Create("create_qp", verbs.KindQP, uses...); err != nil {
		done(nil, err)
		return
	}
	q.q = verbs.Queues{Type: a.Type, PD: pd, Cap: c, HasSRQ: a.SRQ != nil, Dev: &p.attr, PathMTU: verbs.MTU1024,
		MaxMessage: 1 << 20,
		AHOf:       func(h verbs.AH) (verbs.PD, bool) { pd, ok := p.ahs[h]; return pd, ok }}
	if p.hasFault("any AH") {
		q.q.AHOf = func(verbs.AH) (verbs.PD, bool) { return pd, true }
	}
	p.qps[q.n] = q
	done(q, nil)
}

func (q *fakeQP) Num() uint32 { return q.n }

func (p *fakeDevice) ModifyQP(x verbs.QP, a verbs.QPAttr, mask verbs.AttrMask, done func(error)) {
	q := x.(*fakeQP)
	if p.qps[q.n] != q {
		done(verbs.Errorf("modify_qp", verbs.EINVAL, "no queue pair %d", q.n))
		return
	}
	next, err := verbs.CheckModify(q.init.Type, q.q.State, &a, mask, &p.attr)
	if err != nil && p.hasFault("any transition") {
		next, err = a.State, nil
	}
	if err != nil {
		done(err)
		return
	}
	if p.hasFault("attributes lost") {
		mask &^= verbs.QPTimeout
	}
	q.attr.Merge(&a, mask)
	q.attr.State, q.q.State = next, next
	switch next {
	case verbs.QPSErr:
		if !p.hasFault("forgets to flush") {
			q.flush()
		}
	case verbs.QPSReset:
		q.sq, q.q.SendUsed, q.rq = nil, 0, &fakeSRQ{p: p}
		q.attr = verbs.QPAttr{}
		q.send.Drop(q.n)
		q.recv.Drop(q.n)
	case verbs.QPSRTS:
		p.w.later(q.run)
	}
	p.w.later(func() { done(nil) })
}

func (p *fakeDevice) QueryQP(x verbs.QP, done func(verbs.QPAttr, verbs.QPInitAttr, error)) {
	q := x.(*fakeQP)
	done(q.attr, q.init, nil)
}

func (p *fakeDevice) DestroyQP(x verbs.QP, done func(error)) {
	q := x.(*fakeQP)
	err := p.objects.Destroy("destroy_qp", verbs.Object{Kind: verbs.KindQP, Number: q.n})
	delete(p.qps, q.n)
	done(err)
}

func (q *fakeQP) PostSend(wrs []verbs.SendWR) (int, error) {
	for i := range wrs {
		w := wrs[i]
		if err := q.q.CheckSend(&w); err != nil {
			if q.p.hasFault("position") {
				i++
			}
			return i, err
		}
		w.SGEs = slices.Clone(w.SGEs)
		if !q.p.hasFault("inline later") {
			w.Inline = slices.Clone(w.Inline)
		}
		q.sq = append(q.sq, w)
		q.q.SendUsed++
		q.p.w.later(q.run)
	}
	return len(wrs), nil
}

func (q *fakeQP) PostRecv(wrs []verbs.RecvWR) (int, error) {
	for i := range wrs {
		q.q.RecvUsed = len(q.rq.wrs)
		if err := q.q.CheckRecv(&wrs[i]); err != nil {
			return i, err
		}
		q.rq.push(wrs[i])
	}
	if q.q.State == verbs.QPSErr {
		q.flush()
	}
	return len(wrs), nil
}

// run carries out the oldest send request.
func (q *fakeQP) run() {
	if len(q.sq) == 0 || q.q.State == verbs.QPSSQD {
		return
	}
	w := q.sq[0]
	if w.Opcode == verbs.WRRead && len(q.sq) > 1 && q.sq[1].Flags&verbs.SendFence != 0 && q.p.hasFault("no fence") {
		w = q.sq[1]
		q.sq[1] = q.sq[0]
	}
	q.sq = q.sq[1:]
	if !q.p.hasFault("no room") {
		q.q.SendUsed--
	}
	s := q.q.SendStatus(&w, q.p.regions)
	if s == verbs.WCLocProtErr && q.p.hasFault("no local keys") {
		s = verbs.WCSuccess
	}
	if s == verbs.WCSuccess {
		s = q.carry(&w)
	}
	q.end(&w, s)
}

// end completes a send request.
func (q *fakeQP) end(w *verbs.SendWR, s verbs.Status) {
	wc := verbs.WC{ID: w.ID, Status: s, Opcode: w.Opcode.Completion(), QPN: q.n}
	if w.Opcode == verbs.WRRead || w.Opcode.IsAtomic() {
		wc.ByteLen = uint32(w.Length())
	}
	if s != verbs.WCSuccess || w.Flags&verbs.SendSignaled != 0 || q.init.SignalAll && !q.p.hasFault("no sq_sig_all") ||
		q.p.hasFault("all signalled") {
		if s != verbs.WCFlushErr || !q.p.hasFault("no flush") {
			q.send.add(wc, false)
		}
	}
	if s == verbs.WCSuccess || s == verbs.WCFlushErr {
		return
	}
	q.fail(q.init.Type.After(q.q.State, false, s))
}

func (q *fakeQP) fail(s verbs.State) {
	if q.p.hasFault("errors leave RTS") {
		return
	}
	q.attr.State, q.q.State = s, s
	q.flush()
}

// flush flushes all posted requests.
func (q *fakeQP) flush() {
	for len(q.sq) > 0 {
		w := q.sq[0]
		q.sq = q.sq[1:]
		q.q.SendUsed--
		q.end(&w, verbs.WCFlushErr)
	}
	for q.q.State == verbs.QPSErr && !q.q.HasSRQ && len(q.rq.wrs) > 0 {
		q.received(q.rq.take(), verbs.WC{Status: verbs.WCFlushErr}, false)
	}
}

func (q *fakeQP) received(r verbs.RecvWR, wc verbs.WC, solicited bool) {
	wc.ID, wc.QPN = r.ID, q.n
	q.recv.add(wc, solicited)
	if wc.Status != verbs.WCSuccess && wc.Status != verbs.WCFlushErr {
		q.fail(verbs.QPSErr)
	}
}

// peer returns the queue pair that receives a request of this one.
func (q *fakeQP) peer(w *verbs.SendWR) *fakeQP {
	other := q.p.w.devs[1-q.p.n]
	n := q.attr.DestQPN
	switch q.init.Type {
	case verbs.QPTUD:
		n = w.RemoteQPN
	case verbs.QPTRawPacket:
		for _, x := range other.qps {
			if x.init.Type == verbs.QPTRawPacket {
				return x
			}
		}
	}
	x := other.qps[n]
	if x == nil || x.init.Type != q.init.Type || x.q.State != verbs.QPSRTR && x.q.State != verbs.QPSRTS {
		return nil
	}
	return x
}

func (q *fakeQP) gather(w *verbs.SendWR) (b []byte) {
	if w.Flags&verbs.SendInline != 0 {
		return w.Inline
	}
	for _, s := range w.SGEs {
		if s.Length > 0 {
			b = append(b, q.p.mem[s.Addr:][:s.Length]...)
		}
	}
	return b
}

func (q *fakeQP) scatter(sges []verbs.SGE, b []byte) {
	for _, s := range sges {
		if s.Length > 0 {
			b = b[copy(q.p.mem[s.Addr:][:s.Length], b):]
		}
	}
	if q.p.hasFault("a byte too many") && len(sges) > 0 {
		q.p.mem[sges[0].Addr+uint64(sges[0].Length)] = 0
	}
}

// carry performs the operation of a request at the peer, and returns its status.
func (q *fakeQP) carry(w *verbs.SendWR) verbs.Status {
	if w.Opcode == verbs.WRNop {
		return verbs.WCSuccess
	}
	if w.Opcode == verbs.WRLocalInv {
		q.p.regions.Invalidate(q.q.PD, w.InvKey)
		return verbs.WCSuccess
	}
	x := q.peer(w)
	reliable := q.init.Type == verbs.QPTRC
	if x == nil && reliable {
		return verbs.WCRetryExcErr
	}
	if x == nil || q.init.Type == verbs.QPTUD && w.RemoteQKey != x.attr.QKey && !q.p.hasFault("any Q_Key") {
		return verbs.WCSuccess
	}
	s := verbs.WCSuccess
	if !w.Opcode.IsSend() {
		s = q.access(w, x)
	}
	if s == verbs.WCSuccess && (w.Opcode.IsSend() || w.Opcode.HasImm()) {
		s = q.deliver(w, x)
	}
	if !reliable {
		return verbs.WCSuccess
	}
	if s == verbs.WCRemAccessErr || s == verbs.WCRemInvReqErr && x.q.State != verbs.QPSErr {
		x.fail(verbs.QPSErr)
	}
	return s
}

// access performs a WRITE, a READ or an atomic.
func (q *fakeQP) access(w *verbs.SendWR, x *fakeQP) verbs.Status {
	need := verbs.AccessRemoteWrite
	if w.Opcode == verbs.WRRead {
		need = verbs.AccessRemoteRead
	} else if w.Opcode.IsAtomic() {
		need = verbs.AccessRemoteAtomic
	}
	n := w.Length()
	switch {
	case x.attr.Access&need == 0 || w.Opcode.IsAtomic() && w.RemoteAddr%8 != 0:
		return verbs.WCRemInvReqErr
	case !x.p.regions.Remote(x.q.PD, w.RKey, w.RemoteAddr, n, need):
		if !q.p.hasFault("no remote keys") || w.RemoteAddr > paperBytes {
			return verbs.WCRemAccessErr
		}
	case n == 0:
		return verbs.WCSuccess
	}
	remote := x.p.mem[w.RemoteAddr:][:n]
	switch w.Opcode {
	case verbs.WRRead:
		q.scatter(w.SGEs, remote)
	case verbs.WRCmpSwap, verbs.WRFetchAdd:
		le := binary.LittleEndian
		old := le.Uint64(remote)
		q.scatter(w.SGEs, le.AppendUint64(nil, old))
		if w.Opcode == verbs.WRFetchAdd {
			le.PutUint64(remote, old+w.CompareAdd)
		} else if old == w.CompareAdd || q.p.hasFault("always swaps") {
			le.PutUint64(remote, w.Swap)
		}
	default:
		copy(remote, q.gather(w))
	}
	return verbs.WCSuccess
}

// deliver places a message into a receive request of the peer.
func (q *fakeQP) deliver(w *verbs.SendWR, x *fakeQP) verbs.Status {
	if len(x.rq.wrs) == 0 {
		return verbs.WCRNRRetryExcErr
	}
	wc := verbs.WC{Opcode: verbs.WCRecvWriteWithImm, ByteLen: uint32(w.Length())}
	var b []byte
	if w.Opcode.IsSend() {
		wc.Opcode = verbs.WCRecv
		b = q.gather(w)
		if q.init.Type == verbs.QPTUD {
			b = append(make([]byte, verbs.GRHBytes), b...)
			wc.Flags, wc.SrcQP = verbs.WCGRH, q.n
		}
		wc.ByteLen = uint32(len(b))
	}
	if w.Opcode.HasImm() {
		wc.Flags, wc.Imm = wc.Flags|verbs.WCWithImm, w.Imm
	}
	if w.Opcode == verbs.WRSendInv {
		x.p.regions.Invalidate(x.q.PD, w.InvKey)
		wc.Flags, wc.InvKey = verbs.WCWithInv, w.InvKey
	}
	r := x.rq.take()
	if wc.Status = x.q.RecvStatus(&r, uint64(len(b)), x.p.regions); wc.Status == verbs.WCSuccess {
		x.scatter(r.SGEs, b)
	}
	x.received(r, wc, w.Flags&verbs.SendSolicited != 0)
	return map[verbs.Status]verbs.Status{verbs.WCLocLenErr: verbs.WCRemInvReqErr,
		verbs.WCLocProtErr: verbs.WCRemOpErr}[wc.Status]
}
