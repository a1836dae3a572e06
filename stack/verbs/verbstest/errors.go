package verbstest

import (
	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// flush checks that after a request in error all others are flushed, in order, signaled or not, on both queues.
func flush(b *bench) {
	typ := b.side[0].attr.Types[0]
	x := b.pair(typ)
	buf, to := x[0].buffer(3000, 1), x[1].buffer(3000, 2)
	good := verbs.SendWR{Opcode: verbs.WRWrite, SGEs: buf.sges(), RemoteAddr: to.addr, RKey: x[1].mr.RKey}
	bad := good
	bad.SGEs = []verbs.SGE{{Addr: buf.addr, Length: 8, LKey: 0xdeadbeef}}
	x[0].postRecv(verbs.RecvWR{ID: 100}, verbs.RecvWR{ID: 101})
	var wrs []verbs.SendWR
	for i := range 6 {
		w := good
		if i == 2 {
			w = bad
		}
		if i < 2 || i == 4 {
			w.Flags = verbs.SendSignaled
		}
		w.ID = uint64(i)
		wrs = append(wrs, w)
	}
	x[0].post(wrs...)
	require.Equal(b, []ended{{0, verbs.WCSuccess}, {1, verbs.WCSuccess}, {2, verbs.WCLocProtErr}, {3, verbs.WCFlushErr},
		{4, verbs.WCFlushErr}, {5, verbs.WCFlushErr}},
		b.statuses(x[0].send))
	to.holds(pattern(3000, 1))
	if typ == verbs.QPTRC {
		require.Equal(b, verbs.QPSErr, x[0].state())
		require.Equal(b, []ended{{100, verbs.WCFlushErr}, {101, verbs.WCFlushErr}}, b.statuses(x[0].recv))
	}
	x[0].post(verbs.SendWR{ID: 7, Opcode: verbs.WRSend})
	require.Equal(b, []ended{{7, verbs.WCFlushErr}}, b.statuses(x[0].send), "posted in error")
	if typ == verbs.QPTRC {
		x[0].postRecv(verbs.RecvWR{ID: 102})
		require.Equal(b, []ended{{102, verbs.WCFlushErr}}, b.statuses(x[0].recv))
	}
}

// toError checks that ModifyQP to ERR flushes posted requests, that RESET discards them, and that the queue pair can be
// reused.
func toError(b *bench) {
	typ := b.side[0].attr.Types[0]
	x := b.pair(typ)
	x[0].postRecv(verbs.RecvWR{ID: 1}, verbs.RecvWR{ID: 2})
	err := x[0].modify(verbs.QPAttr{State: verbs.QPSErr}, verbs.QPState)
	if b.lacks(verbs.FeatureError) {
		require.ErrorIs(b, err, verbs.EOPNOTSUPP)
		return
	}
	require.NoError(b, err)
	require.Equal(b, []ended{{1, verbs.WCFlushErr}, {2, verbs.WCFlushErr}}, b.statuses(x[0].recv))
	require.Equal(b, verbs.QPSErr, x[0].state())
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: 99})
	x[0].post(verbs.SendWR{ID: 3, Opcode: verbs.WRSend})
	require.Equal(b, []ended{{3, verbs.WCFlushErr}}, b.statuses(x[0].send))
	for _, e := range x {
		e.postRecv(verbs.RecvWR{ID: 4})
		require.NoError(b, e.modify(verbs.QPAttr{State: verbs.QPSReset}, verbs.QPState))
		b.statuses(e.recv)
		e.moveTo(typ, e.path(x[0].other(x)), verbs.QPSRTS)
	}
	x[1].postRecv(verbs.RecvWR{ID: 5})
	x[0].post(verbs.SendWR{ID: 6, Opcode: verbs.WRSend, Flags: verbs.SendSignaled})
	require.Equal(b, []ended{{6, verbs.WCSuccess}}, b.statuses(x[0].send))
	require.Equal(b, []ended{{5, verbs.WCSuccess}}, b.statuses(x[1].recv))
}

// localKeys checks requests that misuse local memory.
func localKeys(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	s := &b.side[0]
	buf, to := s.buffer(256, 1), b.side[1].buffer(256, 2)
	readOnly := s.register(s.pd, buf.addr, 256, 0)
	foreign := s.register(s.allocPD(), buf.addr, 256, allAccess)
	ended := s.register(s.pd, buf.addr, 256, allAccess)
	require.NoError(b, b.wait(func(done func(error)) { s.Context.DeregMR(ended.LKey, done) }))
	for _, c := range []struct {
		what string
		op   verbs.Opcode
		sge  verbs.SGE
		want verbs.Status
	}{
		{"whole region", verbs.WRWrite, verbs.SGE{Addr: buf.addr, Length: 256, LKey: readOnly.LKey}, verbs.WCSuccess},
		{"no such key", verbs.WRWrite, verbs.SGE{Addr: buf.addr, Length: 1, LKey: 0}, verbs.WCLocProtErr},
		{"key that has ended", verbs.WRWrite, verbs.SGE{Addr: buf.addr, Length: 1, LKey: ended.LKey},
			verbs.WCLocProtErr},
		{"a byte before", verbs.WRWrite, verbs.SGE{Addr: buf.addr - 1, Length: 2, LKey: readOnly.LKey},
			verbs.WCLocProtErr},
		{"a byte behind", verbs.WRWrite, verbs.SGE{Addr: buf.addr, Length: 257, LKey: readOnly.LKey},
			verbs.WCLocProtErr},
		{"around the end of memory", verbs.WRWrite, verbs.SGE{Addr: ^uint64(0) - 3, Length: 8, LKey: readOnly.LKey},
			verbs.WCLocProtErr},
		{"another protection domain", verbs.WRWrite, verbs.SGE{Addr: buf.addr, Length: 1, LKey: foreign.LKey},
			verbs.WCLocProtErr},
		{"a READ into what may not be written", verbs.WRRead, verbs.SGE{Addr: buf.addr, Length: 1, LKey: readOnly.LKey},
			verbs.WCLocProtErr},
		{"no bytes need no key", verbs.WRWrite, verbs.SGE{LKey: 12345}, verbs.WCSuccess},
	} {
		x := b.pair(verbs.QPTRC)
		x[0].post(verbs.SendWR{Opcode: c.op, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{c.sge}, RemoteAddr: to.addr,
			RKey: b.side[1].mr.RKey})
		require.Equal(b, c.want, b.only(x[0].send).Status, c.what)
		if c.want != verbs.WCSuccess {
			require.Equal(b, verbs.QPSErr, x[0].state(), c.what)
			require.Equal(b, verbs.QPSRTS, x[1].state(), "%s: the other side knows nothing of it", c.what)
		}
	}
	buf.holds(pattern(256, 1))
	to.holds(pattern(256, 1))
}

// remoteKeys checks requests that misuse the peer's memory.
func remoteKeys(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	s := &b.side[1]
	remote := s.buffer(256, 2)
	write := s.register(s.pd, remote.addr, 256, verbs.AccessLocalWrite|verbs.AccessRemoteWrite)
	read := s.register(s.pd, remote.addr, 256, verbs.AccessRemoteRead)
	foreign := s.register(s.allocPD(), remote.addr, 256, allAccess)
	full := s.mr.RKey
	none := func(a *verbs.QPAttr) { a.Access = 0 }
	for _, c := range []struct {
		what  string
		op    verbs.Opcode
		addr  uint64
		n     int
		rkey  uint32
		want  verbs.Status
		needs verbs.Feature
		peer  func(*verbs.QPAttr)
	}{
		{"the last byte", verbs.WRRead, remote.addr + 255, 1, read.RKey, verbs.WCSuccess, 0, nil},
		{"no such key", verbs.WRWrite, remote.addr, 8, 0, verbs.WCRemAccessErr, 0, nil},
		{"a byte behind", verbs.WRWrite, remote.addr + 1, 256, write.RKey, verbs.WCRemAccessErr, 0, nil},
		{"a byte before", verbs.WRRead, remote.addr - 1, 2, read.RKey, verbs.WCRemAccessErr, 0, nil},
		{"a WRITE without right", verbs.WRWrite, remote.addr, 8, read.RKey, verbs.WCRemAccessErr, 0, nil},
		{"a READ without right", verbs.WRRead, remote.addr, 8, write.RKey, verbs.WCRemAccessErr, 0, nil},
		{"an atomic without right", verbs.WRFetchAdd, remote.addr &^ 7, 8, write.RKey, verbs.WCRemAccessErr,
			verbs.FeatureAtomics, nil},
		{"a misaligned atomic", verbs.WRFetchAdd, remote.addr | 1, 8, full, verbs.WCRemInvReqErr, verbs.FeatureAtomics,
			nil},
		{"another protection domain", verbs.WRWrite, remote.addr, 8, foreign.RKey, verbs.WCRemAccessErr,
			verbs.FeatureRemotePD, nil},
		{"a WRITE that the queue pair forbids", verbs.WRWrite, remote.addr, 8, full, verbs.WCRemInvReqErr, 0, none},
		{"a READ that the queue pair forbids", verbs.WRRead, remote.addr, 8, full, verbs.WCRemInvReqErr, 0, none},
		{"no bytes need no key", verbs.WRWrite, 1 << 60, 0, 7, verbs.WCSuccess, 0, nil},
	} {
		if c.needs != 0 && b.lacks(c.needs) {
			continue
		}
		x := b.pair(verbs.QPTRC, func(a *verbs.QPAttr) {
			if c.peer != nil {
				c.peer(a)
			}
		})
		w := verbs.SendWR{Opcode: c.op, SGEs: x[0].buffer(c.n, 9).sges(), RemoteAddr: c.addr, RKey: c.rkey}
		if c.want == verbs.WCSuccess {
			w.Flags = verbs.SendSignaled
		}
		x[0].post(w)
		require.Equal(b, c.want, b.only(x[0].send).Status, c.what)
		if c.want != verbs.WCSuccess {
			require.Equal(b, verbs.QPSErr, x[0].state(), c.what)
			require.Equal(b, verbs.QPSErr, x[1].state(), "%s: the responder's queue pair, too", c.what)
		}
	}
	remote.holds(pattern(256, 2))
}

// receives checks faulty receive requests, which fail on both sides when a message arrives.
func receives(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	s := &b.side[1]
	buf := s.buffer(2000, 1)
	foreign := s.register(s.allocPD(), buf.addr, 2000, allAccess)
	readOnly := s.register(s.pd, buf.addr, 2000, 0)
	for _, c := range []struct {
		what        string
		sge         verbs.SGE
		there, here verbs.Status
	}{
		{"too short", verbs.SGE{Addr: buf.addr, Length: 1499, LKey: s.mr.LKey}, verbs.WCLocLenErr,
			verbs.WCRemInvReqErr},
		{"no such key", verbs.SGE{Addr: buf.addr, Length: 1500, LKey: 1}, verbs.WCLocProtErr, verbs.WCRemOpErr},
		{"may not be written", verbs.SGE{Addr: buf.addr, Length: 1500, LKey: readOnly.LKey}, verbs.WCLocProtErr,
			verbs.WCRemOpErr},
		{"another protection domain", verbs.SGE{Addr: buf.addr, Length: 1500, LKey: foreign.LKey}, verbs.WCLocProtErr,
			verbs.WCRemOpErr},
		{"exactly as long", verbs.SGE{Addr: buf.addr, Length: 1500, LKey: s.mr.LKey}, verbs.WCSuccess, verbs.WCSuccess},
	} {
		x := b.pair(verbs.QPTRC)
		x[1].postRecv(verbs.RecvWR{ID: 1, SGEs: []verbs.SGE{c.sge}}, verbs.RecvWR{ID: 2})
		x[0].post(verbs.SendWR{ID: 3, Opcode: verbs.WRSend, Flags: verbs.SendSignaled,
			SGEs: x[0].buffer(1500, 5).sges()})
		require.Equal(b, []ended{{3, c.here}}, b.statuses(x[0].send), c.what)
		want := []ended{{1, c.there}}
		if c.there != verbs.WCSuccess {
			want = append(want, ended{2, verbs.WCFlushErr})
			require.Equal(b, verbs.QPSErr, x[1].state(), c.what)
		}
		require.Equal(b, want, b.statuses(x[1].recv), c.what)
	}
	buf.holds(append(pattern(1500, 5), pattern(2000, 1)[1500:]...))
}

// notReady checks that a SEND without a receive request fails after the configured retries.
func notReady(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	x := b.pair(verbs.QPTRC)
	x[0].post(verbs.SendWR{ID: 1, Opcode: verbs.WRSend}, verbs.SendWR{ID: 2, Opcode: verbs.WRSend})
	require.Equal(b, []ended{{1, verbs.WCRNRRetryExcErr}, {2, verbs.WCFlushErr}}, b.statuses(x[0].send))
	require.Equal(b, verbs.QPSErr, x[0].state())
	require.Equal(b, verbs.QPSRTS, x[1].state())
}

// lostPeer checks requests to a peer that does not answer.
func lostPeer(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	e := b.side[0].end(verbs.QPTRC, nil)
	peer := b.side[1].end(verbs.QPTRC, nil) // stays in RESET
	e.moveTo(verbs.QPTRC, e.path(peer), verbs.QPSRTS)
	e.post(verbs.SendWR{ID: 1, Opcode: verbs.WRWrite})
	require.Equal(b, []ended{{1, verbs.WCRetryExcErr}}, b.statuses(e.send))
	require.Equal(b, verbs.QPSErr, e.state())
}
