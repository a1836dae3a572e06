package verbstest

import (
	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// lowLatency checks that a device without low-latency queue pairs refuses them. Devices that have them must deliver
// messages to the buffers of receive requests like ordinary queue pairs, refuse what they do not support, and flush
// their requests after an error.
func lowLatency(b *bench) {
	s := &b.side[0]
	most := s.attr.MaxLowLatency
	require.Equal(b, most, b.side[1].attr.MaxLowLatency, "both sides have the same")
	if most == 0 {
		a := verbs.QPInitAttr{Type: s.attr.Types[0], SendCQ: s.cq(entries), RecvCQ: s.cq(entries), LowLatency: 1,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxRecvSGE: 1}}
		_, err := get(b, func(done func(verbs.QP, error)) { s.Context.CreateQP(s.pd, a, done) })
		require.ErrorIs(b, err, verbs.EOPNOTSUPP)
		return
	}
	const longest = 100
	low := func(a *verbs.QPInitAttr) { a.LowLatency = longest }
	x := [2]*end{b.side[0].end(verbs.QPTRC, low), b.side[1].end(verbs.QPTRC, low)}
	for i, e := range x {
		e.moveTo(verbs.QPTRC, e.path(x[1-i]), verbs.QPSRTS)
	}
	for i, n := range []int{0, 1, 63, 64, longest} {
		lowLatencySend(b, x, n, byte(i))
	}
	to := x[0].buffer(longest, 1)
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRWrite, SGEs: to.sges()})
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRSend, SGEs: append(to.sges(), to.sges()...)})
	x[0].badRecv(0, verbs.EINVAL, verbs.RecvWR{})
	x[0].badRecv(0, verbs.EINVAL, verbs.RecvWR{SGEs: x[0].buffer(longest-1, 1).sges()})
	x[0].postRecv(verbs.RecvWR{ID: 1, SGEs: to.sges()}, verbs.RecvWR{ID: 2, SGEs: to.sges()})
	b.settle()
	require.NoError(b, x[0].modify(verbs.QPAttr{State: verbs.QPSErr}, verbs.QPState))
	require.Equal(b, []ended{{1, verbs.WCFlushErr}, {2, verbs.WCFlushErr}}, b.statuses(x[0].recv))
}

// lowLatencySend carries out a SEND of n bytes.
func lowLatencySend(b *bench, x [2]*end, n int, seed byte) {
	b.Helper()
	from, to := x[0].buffer(n, seed), x[1].buffer(200, seed+50)
	x[1].postRecv(verbs.RecvWR{ID: 88, SGEs: to.sges()})
	x[0].post(verbs.SendWR{ID: 77, Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGEs: from.sges()})
	require.Equal(b, verbs.WC{ID: 77, Opcode: verbs.WCSend, QPN: x[0].qp.Num()}, b.only(x[0].send))
	require.Equal(b, verbs.WC{ID: 88, Opcode: verbs.WCRecv, ByteLen: uint32(n), QPN: x[1].qp.Num()}, b.only(x[1].recv))
	want := pattern(200, seed+50)
	copy(want, pattern(n, seed))
	to.holds(want)
}
