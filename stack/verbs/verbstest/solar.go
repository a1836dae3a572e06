package verbstest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// solar checks queue pairs of type Solar, which carries storage: each packet is one block, independent of all others
// (package transport). A device without them must refuse them. Others must write and read blocks, refuse what they do
// not support, and fail a refused request without effect on others. RESET must discard everything.
func solar(b *bench) {
	s := &b.side[0]
	if !b.has(verbs.QPTSolar) {
		a := verbs.QPInitAttr{Type: verbs.QPTSolar, SendCQ: s.cq(entries), RecvCQ: s.cq(entries),
			Cap: verbs.QPCap{MaxSendWR: 1}}
		_, err := get(b, func(done func(verbs.QP, error)) { s.Context.CreateQP(s.pd, a, done) })
		require.ErrorIs(b, err, verbs.EINVAL)
		return
	}
	x := b.pair(verbs.QPTSolar)
	const n = 2500 // two whole blocks and a part of a third
	from, to := x[0].buffer(n, 1), x[1].buffer(n, 2)
	write := verbs.SendWR{ID: 1, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled, SGEs: from.sges(),
		RemoteAddr: to.addr, RKey: x[1].mr.RKey}
	for _, change := range []func(*verbs.SendWR){
		func(w *verbs.SendWR) { w.Flags = 0 },
		func(w *verbs.SendWR) { w.Flags |= verbs.SendFence },
		func(w *verbs.SendWR) { w.Opcode = verbs.WRSend },
		func(w *verbs.SendWR) { w.Opcode = verbs.WRFetchAdd },
	} {
		w := write
		change(&w)
		x[0].refusesAt(0, verbs.EINVAL, w)
	}
	x[1].badRecv(0, verbs.EINVAL, verbs.RecvWR{SGEs: to.sges()})

	source, sink := x[1].buffer(n, 3), x[0].buffer(n, 4)
	read := verbs.SendWR{ID: 3, Opcode: verbs.WRRead, Flags: verbs.SendSignaled, SGEs: sink.sges(),
		RemoteAddr: source.addr, RKey: x[1].mr.RKey}
	wrong := write
	wrong.ID, wrong.RKey = 2, write.RKey^0x5a5a00 // a key that does not exist
	x[0].post(write, wrong, read)
	got := b.statuses(x[0].send)
	slices.SortFunc(got, func(a, c ended) int { return int(a.id) - int(c.id) })
	require.Equal(b, []ended{{1, verbs.WCSuccess}, {2, verbs.WCRemAccessErr}, {3, verbs.WCSuccess}}, got)
	require.Equal(b, verbs.QPSRTS, x[0].state())
	to.holds(pattern(n, 1))
	sink.holds(pattern(n, 3))

	x[0].post(read, write)
	require.NoError(b, x[0].modify(verbs.QPAttr{State: verbs.QPSReset}, verbs.QPState))
	require.Empty(b, b.statuses(x[0].send))
	require.NoError(b, x[1].modify(verbs.QPAttr{State: verbs.QPSReset}, verbs.QPState))
	for i, e := range x {
		e.moveTo(verbs.QPTSolar, e.path(x[1-i]), verbs.QPSRTS)
	}
	// more requests than the queue has places (depth), so that request numbers and slots are reused
	for i := range uint64(3 * depth) {
		read.ID = i
		x[0].post(read)
		require.Equal(b, []ended{{i, verbs.WCSuccess}}, b.statuses(x[0].send))
	}
}
