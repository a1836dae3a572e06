package verbstest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// other returns the other end of the pair x.
func (e *end) other(x [2]*end) *end {
	if x[0] == e {
		return x[1]
	}
	return x[0]
}

// datagrams checks address handles, the network header before the message, Q_Keys, and messages that are too long.
func datagrams(b *bench) {
	if !b.has(verbs.QPTUD) {
		return
	}
	x := b.pair(verbs.QPTUD)
	s := x[0]
	ah, err := get(b, func(done func(verbs.AH, error)) { s.Context.CreateAH(s.pd, s.Peer, done) })
	require.NoError(b, err)
	foreign, err := get(b, func(done func(verbs.AH, error)) { s.Context.CreateAH(s.allocPD(), s.Peer, done) })
	require.NoError(b, err)
	to := verbs.SendWR{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, AH: ah, RemoteQPN: x[1].qp.Num(),
		RemoteQKey: qkey}
	const n = 500
	to.SGEs = s.buffer(n, 3).sges()
	for _, op := range []verbs.Opcode{verbs.WRSend, verbs.WRSendImm} {
		in := x[1].buffer(verbs.GRHBytes+n, 0)
		x[1].postRecv(verbs.RecvWR{ID: 2, SGEs: in.sges()})
		w := to
		w.Opcode, w.Imm = op, imm
		s.post(w)
		require.Equal(b, verbs.WC{ID: 1, Opcode: verbs.WCSend, QPN: s.qp.Num()}, b.only(s.send))
		want := verbs.WC{ID: 2, Opcode: verbs.WCRecv, Flags: verbs.WCGRH, ByteLen: verbs.GRHBytes + n,
			QPN: x[1].qp.Num(), SrcQP: s.qp.Num()}
		if op.HasImm() {
			want.Flags, want.Imm = want.Flags|verbs.WCWithImm, imm
		}
		require.Equal(b, want, b.only(x[1].recv))
		got := make([]byte, n)
		require.NoError(b, x[1].Memory.Read(in.addr+verbs.GRHBytes, got))
		require.Equal(b, pattern(n, 3), got)
	}
	for _, h := range []verbs.AH{foreign, foreign + 100} {
		w := to
		w.AH = h
		s.refusesAt(0, verbs.EINVAL, w)
	}
	strays(b, x, to)
}

// strays checks datagrams that the other side must drop: they succeed here. One longer than
// the path's MTU fails.
func strays(b *bench, x [2]*end, to verbs.SendWR) {
	in := x[1].buffer(600, 0)
	x[1].postRecv(verbs.RecvWR{ID: 2, SGEs: in.sges()})
	badKey, noQP, long := to, to, to
	badKey.RemoteQKey++
	noQP.RemoteQPN = 1<<24 - 2
	x[0].post(badKey, noQP)
	require.Equal(b, []ended{{1, verbs.WCSuccess}, {1, verbs.WCSuccess}}, b.statuses(x[0].send))
	require.Empty(b, b.statuses(x[1].recv))
	in.holds(pattern(600, 0))
	port, err := get(b, func(done func(verbs.PortAttr, error)) { x[0].Context.QueryPort(x[0].Port, done) })
	require.NoError(b, err)
	long.SGEs = x[0].buffer(int(port.ActiveMTU)+1, 1).sges()
	x[0].post(long)
	require.Equal(b, []ended{{1, verbs.WCLocLenErr}}, b.statuses(x[0].send))
	require.NotEqual(b, verbs.QPSRTS, x[0].state())
}

// frames checks that a raw queue pair sends and receives whole Ethernet frames.
func frames(b *bench) {
	if !b.has(verbs.QPTRawPacket) {
		return
	}
	x := b.pair(verbs.QPTRawPacket)
	frame := pattern(200, 4)
	copy(frame, x[0].Peer.MAC[:])
	copy(frame[6:], x[1].Peer.MAC[:])
	copy(frame[12:], []byte{0x88, 0xb5}) // EtherType for experiments (IEEE 802, 9.2.3)
	out, in := x[0].buffer(200, 0), x[1].buffer(2000, 1)
	require.NoError(b, x[0].Memory.Write(out.addr, frame))
	x[1].postRecv(verbs.RecvWR{ID: 2, SGEs: in.sges()})
	x[0].post(verbs.SendWR{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGEs: out.sges()})
	require.Equal(b, []ended{{1, verbs.WCSuccess}}, b.statuses(x[0].send))
	wc := b.only(x[1].recv)
	require.Equal(b, verbs.WC{ID: 2, Opcode: verbs.WCRecv, ByteLen: 200, QPN: x[1].qp.Num()}, wc)
	in.holds(append(frame, pattern(2000, 1)[200:]...))
}

// overrun checks that completions for which the queue has no place are not lost silently.
func overrun(b *bench) {
	if b.lacks(verbs.FeatureOverrun) {
		return
	}
	s := &b.side[0]
	typ := s.attr.Types[0]
	small := s.cq(4)
	n := small.Entries()
	var events []verbs.AsyncEvent
	s.Context.OnAsync(func(e verbs.AsyncEvent) { events = append(events, e) })
	e := s.end(typ, func(a *verbs.QPInitAttr) { a.SendCQ, a.RecvCQ = small, s.cq(entries) })
	peer := b.side[1].end(typ, nil)
	e.moveTo(typ, e.path(peer), verbs.QPSRTS)
	peer.moveTo(typ, peer.path(e), verbs.QPSRTS)
	require.Less(b, n, e.cap.MaxSendWR)
	for i := range n + 1 {
		e.post(verbs.SendWR{ID: uint64(i), Opcode: verbs.WRWrite, Flags: verbs.SendSignaled})
		b.settle()
		require.Equal(b, i == n, len(events) > 0, "after %d completions in %d places", i+1, n)
	}
	require.Equal(b, []verbs.AsyncEvent{{Type: verbs.EventCQErr, CQ: small}}, events)
	wcs := make([]verbs.WC, n+5)
	got, err := small.Poll(wcs)
	require.NoError(b, err)
	require.Equal(b, n, got, "those that had a place are there")
	for i, wc := range wcs[:n] {
		require.Equal(b, ended{uint64(i), verbs.WCSuccess}, ended{wc.ID, wc.Status})
	}
	_, err = small.Poll(wcs)
	require.ErrorIs(b, err, verbs.EIO)
}

// notify checks that each ReqNotify gives one event, at the next completion of the kind requested.
func notify(b *bench) {
	x := b.pair(b.side[0].attr.Types[0])
	events, follows := 0, 0
	x[1].recv.OnEvent(func() { events++ })
	stop, err := x[1].recv.Follow(func() { follows++ })
	require.NoError(b, err)
	message := func(solicited bool) {
		w := verbs.SendWR{Opcode: verbs.WRSend, Flags: verbs.SendSignaled}
		if solicited {
			w.Flags |= verbs.SendSolicited
		}
		x[1].postRecv(verbs.RecvWR{})
		x[0].post(w)
		require.Len(b, b.statuses(x[0].send), 1)
	}
	message(true)
	require.Zero(b, events, "nobody asked")
	require.NoError(b, x[1].recv.ReqNotify(false))
	require.Zero(b, events, "what came before does not count")
	message(false)
	require.Equal(b, 1, events)
	message(false)
	require.Equal(b, 1, events, "once for each request")
	require.Positive(b, follows)
	stop()
	before := follows
	message(false)
	require.Equal(b, before, follows, "following has ended")
	if b.lacks(verbs.FeatureSolicited) {
		require.ErrorIs(b, x[1].recv.ReqNotify(true), verbs.EOPNOTSUPP)
	} else {
		require.NoError(b, x[1].recv.ReqNotify(true))
		message(false)
		require.Equal(b, 1, events, "not solicited")
		message(true)
		require.Equal(b, 2, events)
		require.NoError(b, x[1].recv.ReqNotify(false))
		require.NoError(b, x[1].recv.ReqNotify(true))
		message(false)
		require.Equal(b, 3, events, "asking for less does not take back what was asked for")
	}
	require.NotEmpty(b, b.statuses(x[1].recv))
}

// sharedReceive checks queue pairs that share a receive queue, and the event when few requests are left.
func sharedReceive(b *bench) {
	s := &b.side[1]
	create := func() (verbs.SRQ, error) {
		return get(b, func(done func(verbs.SRQ, error)) {
			s.Context.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: depth, MaxSGE: 1}, done)
		})
	}
	if b.lacks(verbs.FeatureSRQ) {
		_, err := create()
		require.ErrorIs(b, err, verbs.EOPNOTSUPP)
		require.ErrorIs(b, b.wait(func(done func(error)) { s.Context.ModifySRQ(nil, 1, done) }), verbs.EOPNOTSUPP)
		return
	}
	srq, err := create()
	require.NoError(b, err)
	var events []verbs.AsyncEventType
	s.Context.OnAsync(func(e verbs.AsyncEvent) { events = append(events, e.Type) })
	typ := s.attr.Types[0]
	cq := s.cq(entries)
	var senders, receivers []*end
	for range 2 {
		from := b.side[0].end(typ, nil)
		to := s.end(typ, func(a *verbs.QPInitAttr) { a.SRQ, a.RecvCQ, a.SendCQ = srq, cq, cq })
		from.moveTo(typ, from.path(to), verbs.QPSRTS)
		to.moveTo(typ, to.path(from), verbs.QPSRTS)
		to.badRecv(0, verbs.EINVAL, verbs.RecvWR{})
		senders, receivers = append(senders, from), append(receivers, to)
	}
	for i := range 6 {
		n, err := srq.PostRecv([]verbs.RecvWR{{ID: uint64(i), SGEs: s.buffer(8, 1).sges()}})
		require.NoError(b, err)
		require.Equal(b, 1, n)
	}
	require.NoError(b, b.wait(func(done func(error)) { s.Context.ModifySRQ(srq, 4, done) }))
	var ids []uint64
	for i := range 6 {
		senders[i%2].post(verbs.SendWR{Opcode: verbs.WRSend, Flags: verbs.SendInline, Inline: []byte{1}})
		for _, wc := range b.drainSettled(cq) {
			require.Equal(b, receivers[i%2].qp.Num(), wc.QPN)
			ids = append(ids, wc.ID)
		}
		limit := 0
		if i >= 2 { // fewer requests are left than the limit of 4
			limit = 1
		}
		require.Len(b,
			slices.DeleteFunc(slices.Clone(events),
				func(e verbs.AsyncEventType) bool { return e != verbs.EventSRQLimit }), limit, "after %d", i+1)
	}
	require.Equal(b, []uint64{0, 1, 2, 3, 4, 5}, ids, "requests are taken in order")
	require.ErrorIs(b, b.wait(func(done func(error)) { s.Context.DestroySRQ(srq, done) }), verbs.EBUSY)
}

func (b *bench) drainSettled(cq verbs.CQ) []verbs.WC {
	b.Helper()
	b.settle()
	return b.drain(cq)
}
