package verbstest

import (
	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// query checks that limits make sense and that ports exist.
func query(b *bench) {
	for i := range b.side {
		s := &b.side[i]
		a := &s.attr
		require.Positive(b, a.MaxQP)
		require.GreaterOrEqual(b, a.MaxQPWR, depth)
		require.GreaterOrEqual(b, a.MaxCQE, entries)
		require.Positive(b, a.MaxSGE)
		require.NotEmpty(b, a.Types)
		require.Equal(b, a.Has(verbs.FeatureSRQ), a.MaxSRQ > 0)
		for port := range a.Ports + 2 {
			p, err := get(b, func(done func(verbs.PortAttr, error)) { s.Context.QueryPort(uint8(port), done) })
			if port < 1 || port > a.Ports {
				require.ErrorIs(b, err, verbs.EINVAL)
				continue
			}
			require.NoError(b, err)
			require.True(b, p.ActiveMTU.Valid() && p.MaxMTU >= p.ActiveMTU, "%+v", p)
			require.Positive(b, p.MaxMessage)
		}
	}
}

// lifetimes checks that objects in use cannot be destroyed, and that destroyed ones cannot be used.
func lifetimes(b *bench) {
	s := &b.side[0]
	c := s.Context
	pd := s.allocPD()
	dealloc := func() error { return b.wait(func(done func(error)) { c.DeallocPD(pd, done) }) }
	mr := s.register(pd, s.Base, 100, 0)
	require.ErrorIs(b, dealloc(), verbs.EBUSY)
	dereg := func() error { return b.wait(func(done func(error)) { c.DeregMR(mr.LKey, done) }) }
	require.NoError(b, dereg())
	require.ErrorIs(b, dereg(), verbs.EINVAL)
	ah, err := get(b, func(done func(verbs.AH, error)) { c.CreateAH(pd, s.Peer, done) })
	require.NoError(b, err)
	require.ErrorIs(b, dealloc(), verbs.EBUSY)
	require.NoError(b, b.wait(func(done func(error)) { c.DestroyAH(ah, done) }))
	require.ErrorIs(b, b.wait(func(done func(error)) { c.DestroyAH(ah, done) }), verbs.EINVAL)
	cq := s.cq(entries)
	typ := s.attr.Types[0]
	init := verbs.QPInitAttr{Type: typ, SendCQ: cq, RecvCQ: cq,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}}
	create := func() (verbs.QP, error) {
		return get(b, func(done func(verbs.QP, error)) { c.CreateQP(pd, init, done) })
	}
	qp, err := create()
	require.NoError(b, err)
	destroyCQ := func() error { return b.wait(func(done func(error)) { c.DestroyCQ(cq, done) }) }
	destroy := func() error { return b.wait(func(done func(error)) { c.DestroyQP(qp, done) }) }
	require.ErrorIs(b, destroyCQ(), verbs.EBUSY)
	require.ErrorIs(b, dealloc(), verbs.EBUSY)
	require.NoError(b, destroy())
	require.ErrorIs(b, destroy(), verbs.EINVAL)
	require.ErrorIs(b, b.wait(func(done func(error)) { c.ModifyQP(qp, verbs.QPAttr{}, 0, done) }), verbs.EINVAL)
	require.NoError(b, destroyCQ())
	require.ErrorIs(b, destroyCQ(), verbs.EINVAL)
	_, err = create()
	require.ErrorIs(b, err, verbs.EINVAL, "its completion queue has gone")
	require.NoError(b, dealloc())
	require.ErrorIs(b, dealloc(), verbs.EINVAL)
	impossible(b, s, pd, init)
}

// impossible checks that objects with impossible attributes cannot be created.
func impossible(b *bench, s *side, gone verbs.PD, init verbs.QPInitAttr) {
	c := s.Context
	_, err := get(b, func(done func(verbs.MR, error)) { c.RegMR(gone, s.Base, 100, 0, done) })
	require.ErrorIs(b, err, verbs.EINVAL)
	_, err = get(b, func(done func(verbs.MR, error)) { c.RegMR(s.pd, s.Base, 100, verbs.AccessRemoteWrite, done) })
	require.ErrorIs(b, err, verbs.EINVAL, "REMOTE_WRITE wants LOCAL_WRITE")
	_, err = get(b, func(done func(verbs.AH, error)) { c.CreateAH(gone, s.Peer, done) })
	require.ErrorIs(b, err, verbs.EINVAL)
	far := s.Peer
	far.Port = uint8(s.attr.Ports + 1)
	_, err = get(b, func(done func(verbs.AH, error)) { c.CreateAH(s.pd, far, done) })
	require.ErrorIs(b, err, verbs.EINVAL)
	for _, n := range []int{0, s.attr.MaxCQE + 1} {
		_, err = get(b, func(done func(verbs.CQ, error)) { c.CreateCQ(n, done) })
		require.ErrorIs(b, err, verbs.EINVAL)
	}
	init.SendCQ, init.RecvCQ = s.cq(1), s.cq(1)
	for _, change := range []func(*verbs.QPInitAttr){
		func(a *verbs.QPInitAttr) { a.Type = 99 },
		func(a *verbs.QPInitAttr) { a.SendCQ = nil },
		func(a *verbs.QPInitAttr) { a.RecvCQ = b.side[1].cq(1) },
		func(a *verbs.QPInitAttr) { a.Cap.MaxSendWR = s.attr.MaxQPWR + 1 },
		func(a *verbs.QPInitAttr) { a.Cap.MaxRecvSGE = s.attr.MaxSGE + 1 },
		func(a *verbs.QPInitAttr) { a.Cap.MaxInline = s.attr.MaxInline + 1 },
		func(a *verbs.QPInitAttr) { a.Cap.MaxSendSGE = -1 },
	} {
		a := init
		change(&a)
		_, err = get(b, func(done func(verbs.QP, error)) { c.CreateQP(s.pd, a, done) })
		require.ErrorIs(b, err, verbs.EINVAL, "%+v", a)
	}
}

// states checks the transitions from RESET to RTS, what each state accepts, and that a refused change changes nothing.
func states(b *bench) {
	for _, typ := range b.side[0].attr.Types {
		e := b.side[0].end(typ, nil)
		peer := b.side[1].end(typ, nil)
		a := e.path(peer)
		at := verbs.QPSReset
		for _, next := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			e.checkPosting(typ, at)
			e.checkRefused(typ, at, a)
			mask, _, _ := verbs.Transition(typ, at, next)
			a.State = next
			require.NoError(b, e.modify(a, mask|verbs.QPState), "%v to %v", typ, next)
			require.Equal(b, next, e.state())
			at = next
		}
		got, _, err := e.query()
		require.NoError(b, err)
		if typ == verbs.QPTRC {
			want := a
			want.QKey = 0 // an RC queue pair does not have this attribute
			require.Equal(b, want, got)
		}
	}
}

// checkPosting tries to post in a state that accepts no send requests. Solar never accepts receive requests.
func (e *end) checkPosting(typ verbs.QPType, s verbs.State) {
	e.b.Helper()
	e.refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRSend})
	if s == verbs.QPSReset || typ == verbs.QPTSolar {
		e.badRecv(0, verbs.EINVAL, verbs.RecvWR{})
	} else {
		e.postRecv(verbs.RecvWR{ID: 1})
	}
}

// checkRefused tries each transition that does not exist from a state, and each existing one with an attribute missing.
func (e *end) checkRefused(typ verbs.QPType, at verbs.State, a verbs.QPAttr) {
	e.b.Helper()
	for to := verbs.QPSReset; to <= verbs.QPSErr; to++ {
		mask, _, ok := verbs.Transition(typ, at, to)
		a.State = to
		if !ok {
			require.ErrorIs(e.b, e.modify(a, verbs.QPState), verbs.EINVAL, "%v from %v to %v", typ, at, to)
			continue
		}
		for bit := verbs.QPCurState; bit <= verbs.QPDestQPN; bit <<= 1 {
			if mask&bit != 0 {
				require.ErrorIs(e.b, e.modify(a, verbs.QPState|mask&^bit), verbs.EINVAL, "%v to %v without %v", typ, to,
					bit)
			}
		}
	}
	require.Equal(e.b, at, e.state(), "a refused change changes nothing")
}

// lateRights checks that the peer's rights can be granted or revoked during the transition to RTS.
func lateRights(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	for _, late := range []verbs.Access{allAccess, 0} {
		x := [2]*end{b.side[0].end(verbs.QPTRC, nil), b.side[1].end(verbs.QPTRC, nil)}
		x[0].moveTo(verbs.QPTRC, x[0].path(x[1]), verbs.QPSRTS)
		a := x[1].path(x[0])
		a.Access = allAccess &^ late
		x[1].moveTo(verbs.QPTRC, a, verbs.QPSRTR)
		mask, _, _ := verbs.Transition(verbs.QPTRC, verbs.QPSRTR, verbs.QPSRTS)
		a.Access, a.State = late, verbs.QPSRTS
		require.NoError(b, x[1].modify(a, mask|verbs.QPState|verbs.QPAccess))
		to := x[1].buffer(8, 1)
		x[0].post(verbs.SendWR{Opcode: verbs.WRWrite, Flags: verbs.SendSignaled, SGEs: x[0].buffer(8, 2).sges(),
			RemoteAddr: to.addr, RKey: x[1].mr.RKey})
		want := verbs.WCRemInvReqErr
		if late != 0 {
			want = verbs.WCSuccess
		}
		require.Equal(b, want, b.only(x[0].send).Status)
	}
}

// attributes checks that values out of range are refused as invalid, and missing features as not supported.
func attributes(b *bench) {
	typ := b.side[0].attr.Types[0]
	e := b.pair(typ)[0]
	for _, c := range []struct {
		to    verbs.State
		lacks verbs.Feature
	}{{verbs.QPSSQD, verbs.FeatureDrain}, {verbs.QPSErr, verbs.FeatureError}, {verbs.QPSReset, verbs.FeatureError},
		{verbs.QPSRTS, verbs.FeatureModifyInState}} {
		if b.lacks(c.lacks) {
			require.ErrorIs(b, e.modify(verbs.QPAttr{State: c.to}, verbs.QPState), verbs.EOPNOTSUPP, "to %v", c.to)
		}
	}
	require.Equal(b, verbs.QPSRTS, e.state())
	fresh := b.side[0].end(typ, nil)
	a := fresh.path(e)
	a.Port = uint8(b.side[0].attr.Ports + 1)
	a.State = verbs.QPSInit
	mask, _, _ := verbs.Transition(typ, verbs.QPSReset, verbs.QPSInit)
	require.ErrorIs(b, fresh.modify(a, mask|verbs.QPState), verbs.EINVAL)
	require.Equal(b, verbs.QPSReset, fresh.state())
}
