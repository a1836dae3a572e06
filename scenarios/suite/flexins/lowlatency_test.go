package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// lowLatency is a pair of nodes with a low-latency queue pair between them, on cables with the given faults.
type lowLatency struct {
	*connected
	t     *testing.T
	nodes []*node.Node
	e     *simcore.Engine
	most  int
}

func newLowLatency(t *testing.T, most int, faults *inject.WireSpec, change func(*node.Spec)) *lowLatency {
	s := node.DefaultSpec()
	s.DataCores, s.LowLatency, s.Data.Pipe.LogLines = 2, 2, 8
	if change != nil {
		change(&s)
	}
	b, nodes, e, _ := newNodesOn(t, s, false, func(r *board.RackSpec) {
		if faults != nil {
			r.Network.Faults = faults
		}
	})
	return &lowLatency{connected: connectLow(t, b, most), t: t, nodes: nodes, e: e, most: most}
}

// buffer returns the address of the buffer of receive request i, on the second side.
func (l *lowLatency) buffer(i int) uint64 { return l.Sides[1].Base + uint64(i)*8192 }

func (l *lowLatency) recv(i int) {
	l.t.Helper()
	n, err := l.qp[1].PostRecv([]verbs.RecvWR{{ID: uint64(i),
		SGEs: []verbs.SGE{{Addr: l.buffer(i), Length: uint32(l.most), LKey: l.mr[1].LKey}}}})
	require.NoError(l.t, err)
	require.Equal(l.t, 1, n)
}

// send posts message m of n bytes, from memory or inline.
func (l *lowLatency) send(m, n int, inline bool) {
	l.t.Helper()
	side := l.Sides[0]
	at := side.Base + uint64(m)*8192
	bytes := nictest.Pattern(n, uint64(m))
	w := verbs.SendWR{ID: uint64(m), Opcode: verbs.WRSendImm, Imm: uint32(m), Flags: verbs.SendSignaled}
	if inline {
		w.Flags, w.Inline = w.Flags|verbs.SendInline, bytes
	} else {
		require.NoError(l.t, side.Memory.Write(at, bytes))
		w.SGEs = []verbs.SGE{{Addr: at, Length: uint32(n), LKey: l.mr[0].LKey}}
	}
	_, err := l.qp[0].PostSend([]verbs.SendWR{w})
	require.NoError(l.t, err)
}

func (l *lowLatency) poll(side int) []verbs.WC {
	wcs := make([]verbs.WC, 64)
	n, err := l.cq[side].Poll(wcs)
	require.NoError(l.t, err)
	return wcs[:n]
}

// holds checks that the buffer named by a completion contains the message.
func (l *lowLatency) holds(w *verbs.WC, m, n int) {
	l.t.Helper()
	require.Equal(l.t, verbs.WC{ID: w.ID, Opcode: verbs.WCRecv, Flags: verbs.WCWithImm, Imm: uint32(m),
		ByteLen: uint32(n), QPN: l.qp[1].Num()}, *w)
	b := make([]byte, n)
	require.NoError(l.t, l.Sides[1].Memory.Read(l.buffer(int(w.ID)), b))
	require.Equal(l.t, nictest.Pattern(n, uint64(m)), b)
}

// TestFlexinsLowLatency checks that messages of all lengths up to an MTU arrive in the buffers of receive
// requests, in order, without a copy of any byte.
func TestFlexinsLowLatency(t *testing.T) {
	l := newLowLatency(t, 4096, nil, nil)
	sizes := []int{0, 1, 63, 64, 118, 119, 220, 221, 512, 1024, 1025, 4095, 4096}
	for i := range sizes {
		l.recv(i)
	}
	require.NoError(t, l.Settle())
	before := l.nodes[1].Stats()
	for m, n := range sizes {
		l.send(m, n, m%2 == 1)
		if m%4 == 3 { // wait, since the pipe has no room for all messages
			require.NoError(t, l.Settle())
		}
	}
	require.NoError(t, l.Settle())
	for m, w := range l.poll(0) {
		require.Equal(t, verbs.WC{ID: uint64(m), Opcode: verbs.WCSend, QPN: l.qp[0].Num()}, w)
	}
	got := l.poll(1)
	require.Len(t, got, len(sizes))
	for m := range got {
		require.EqualValues(t, m, got[m].ID)
		l.holds(&got[m], m, sizes[m])
	}
	st := l.nodes[1].Stats()
	require.EqualValues(t, len(sizes), st.Landed)
	require.Zero(t, st.Returned)
	require.EqualValues(t, 64*(st.Completions-before.Completions), st.Copied-before.Copied,
		"completions alone are copied")
}

// TestFlexinsLowLatencyHostileWire checks that every message arrives once and in order, by its completion, on a wire
// that loses, duplicates, reorders, corrupts and marks. Buffers to which the NIC wrote a packet that was then discarded
// must be used again.
func TestFlexinsLowLatencyHostileWire(t *testing.T) {
	for name, change := range map[string]func(*node.Spec){
		"go_back_n":        func(*node.Spec) {},
		"selective_repeat": func(s *node.Spec) { s.Data.Recovery = transport.SelectiveRepeat },
		"spray":            func(s *node.Spec) { s.Data.Recovery, s.Data.Spray = transport.SelectiveRepeat, true },
		"dctcp":            func(s *node.Spec) { s.Data.CC.Kind = data.DCTCP },
	} {
		t.Run(name, func(t *testing.T) {
			faults := &inject.WireSpec{Chances: inject.Chances{Loss: 0.04, Duplication: 0.05, Disorder: 0.05,
				Corruption: 0.03, ECN: 0.1}}
			l := newLowLatency(t, 200, faults, change)
			const messages, depth = 400, 16
			size := func(m int) int { return m * 7 % 201 }
			seen, ended := 0, 0
			for i := range depth {
				l.recv(i)
			}
			for m := 0; m < messages; m += depth / 2 {
				for k := range depth / 2 {
					l.send(m+k, size(m+k), true)
				}
				require.NoError(t, l.Settle())
				for _, w := range l.poll(0) {
					require.Equal(t, verbs.WC{ID: uint64(ended), Opcode: verbs.WCSend, QPN: l.qp[0].Num()}, w)
					ended++
				}
				for _, w := range l.poll(1) {
					l.holds(&w, seen, size(seen))
					seen++
					l.recv(int(w.ID))
				}
			}
			require.Equal(t, messages, seen)
			require.Equal(t, messages, ended)
			st := l.nodes[1].Stats()
			require.Positive(t, st.Returned)
			require.EqualValues(t, messages, st.Landed-st.Returned)
			require.Zero(t, st.BadICRC, "the NIC drops them")
		})
	}
}

// TestFlexinsLowLatencyNotReady checks that a receiver without receive requests answers that it is not ready, like an
// ordinary one: the message arrives once there is a request, and fails at a sender that does not retry.
func TestFlexinsLowLatencyNotReady(t *testing.T) {
	l := newLowLatency(t, 100, nil, nil)
	l.send(0, 50, true)
	l.send(1, 60, true)
	require.NoError(t, l.e.RunUntil(l.e.Now()+100*simcore.Microsecond))
	require.Empty(t, l.poll(0))
	l.recv(7)
	l.recv(8)
	require.NoError(t, l.Settle())
	require.Len(t, l.poll(0), 2)
	got := l.poll(1)
	require.Len(t, got, 2)
	l.holds(&got[0], 0, 50)
	l.holds(&got[1], 1, 60)
	l.errors(t)
}

// errors takes the second side's queue pair to the error state while the NIC has receive requests: each must be
// flushed, in order, and after a RESET the queue pair must work again.
func (l *lowLatency) errors(t *testing.T) {
	for i := range 5 {
		l.recv(i)
	}
	require.NoError(t, l.Settle())
	l.Sides[1].Context.ModifyQP(l.qp[1], verbs.QPAttr{State: verbs.QPSErr}, verbs.QPState,
		func(err error) { require.NoError(t, err) })
	require.NoError(t, l.Settle())
	l.recv(5)
	require.NoError(t, l.Settle())
	got := l.poll(1)
	require.Len(t, got, 6)
	for i, w := range got {
		require.Equal(t, verbs.WCFlushErr, w.Status)
		require.EqualValues(t, i, w.ID)
	}
	l.send(2, 10, true) // sent although no peer answers
	require.NoError(t, l.Settle())
	got = l.poll(0)
	require.Len(t, got, 1)
	require.Equal(t, verbs.WCRetryExcErr, got[0].Status)
	for i, s := range l.Sides {
		s.Context.ModifyQP(l.qp[i], verbs.QPAttr{State: verbs.QPSReset}, verbs.QPState,
			func(err error) { require.NoError(t, err) })
	}
	require.NoError(t, l.Settle())
	l.toRTS(t, l.Bench)
	l.recv(3)
	l.send(3, 33, false)
	require.NoError(t, l.Settle())
	got = l.poll(1)
	require.Len(t, got, 1)
	l.holds(&got[0], 3, 33)
}

// TestFlexinsLowLatencyDeregistered checks that deregistering a region to which the NIC may write ends the queue pair,
// and that nothing is written there afterwards.
func TestFlexinsLowLatencyDeregistered(t *testing.T) {
	l := newLowLatency(t, 100, nil, nil)
	var events []verbs.AsyncEventType
	l.Sides[1].Context.OnAsync(func(e verbs.AsyncEvent) { events = append(events, e.Type) })
	l.recv(0)
	l.recv(1)
	require.NoError(t, l.Settle())
	ended := false
	l.Sides[1].Context.DeregMR(l.mr[1].LKey, func(err error) {
		require.NoError(t, err)
		ended = true
		l.send(0, 20, true)
	})
	require.NoError(t, l.Settle())
	require.True(t, ended)
	require.Equal(t, []verbs.AsyncEventType{verbs.EventQPFatal}, events)
	got := l.poll(1)
	require.Len(t, got, 2)
	for i, w := range got {
		require.EqualValues(t, i, w.ID)
		require.Equal(t, verbs.WCFlushErr, w.Status)
	}
	require.Equal(t, verbs.WCRetryExcErr, l.poll(0)[0].Status)
	b := make([]byte, 20)
	require.NoError(t, l.Sides[1].Memory.Read(l.buffer(0), b))
	require.Equal(t, make([]byte, 20), b)
	_, err := l.qp[1].PostRecv(
		[]verbs.RecvWR{{SGEs: []verbs.SGE{{Addr: l.buffer(0), Length: 100, LKey: l.mr[1].LKey}}}})
	require.ErrorIs(t, err, verbs.EINVAL)
}

// TestFlexinsLowLatencyRefused checks that requests for features that low-latency queue pairs lack are refused, and
// that no resources are lost.
func TestFlexinsLowLatencyRefused(t *testing.T) {
	l := newLowLatency(t, 100, nil, nil)
	c, good := l.Sides[0].Context, verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: l.cq[0], RecvCQ: l.cq[0],
		LowLatency: 100, Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxRecvSGE: 1}}
	create := func(change func(*verbs.QPInitAttr)) (q verbs.QP, err error) {
		a := good
		change(&a)
		c.CreateQP(l.mr[0].PD, a, func(x verbs.QP, e error) { q, err = x, e })
		require.NoError(t, l.Settle())
		return q, err
	}
	var srq verbs.SRQ
	c.CreateSRQ(l.mr[0].PD, verbs.SRQAttr{MaxWR: 4, MaxSGE: 1}, func(s verbs.SRQ, err error) {
		require.NoError(t, err)
		srq = s
	})
	require.NoError(t, l.Settle())
	for _, x := range []struct {
		want   verbs.Errno
		change func(*verbs.QPInitAttr)
	}{
		{verbs.EOPNOTSUPP, func(a *verbs.QPInitAttr) { a.Type = verbs.QPTUC }},
		{verbs.EOPNOTSUPP, func(a *verbs.QPInitAttr) { a.Type = verbs.QPTUD }},
		{verbs.EOPNOTSUPP, func(a *verbs.QPInitAttr) { a.Type = verbs.QPTRawPacket }},
		{verbs.EOPNOTSUPP, func(a *verbs.QPInitAttr) { a.SRQ = srq }},
		{verbs.EINVAL, func(a *verbs.QPInitAttr) { a.LowLatency = 4097 }},
		{verbs.EINVAL, func(a *verbs.QPInitAttr) { a.LowLatency = -1 }},
		{verbs.EINVAL, func(a *verbs.QPInitAttr) { a.Cap.MaxInline = 221 }},
	} {
		_, err := create(x.change)
		require.ErrorIs(t, err, x.want)
	}
	q, err := create(func(*verbs.QPInitAttr) {})
	require.NoError(t, err)
	_, err = create(func(*verbs.QPInitAttr) {})
	require.ErrorIs(t, err, verbs.ENOMEM)
	require.ErrorContains(t, err, "all 2 receive queues")
	c.DestroyQP(q, func(err error) { require.NoError(t, err) })
	require.NoError(t, l.Settle())
	_, err = create(func(*verbs.QPInitAttr) {})
	require.NoError(t, err)
	l.refusesRequests(t)
}

func (l *lowLatency) refusesRequests(t *testing.T) {
	local := func(n uint32) []verbs.SGE { return []verbs.SGE{{Addr: l.Sides[0].Base, Length: n, LKey: l.mr[0].LKey}} }
	for _, w := range []verbs.SendWR{
		{Opcode: verbs.WRWrite, SGEs: local(4)}, {Opcode: verbs.WRRead, SGEs: local(4)},
		{Opcode: verbs.WRFetchAdd, SGEs: local(8)}, {Opcode: verbs.WRSendInv},
		{Opcode: verbs.WRSend, SGEs: local(101)},
		{Opcode: verbs.WRSend, Flags: verbs.SendInline, Inline: make([]byte, 101)},
	} {
		_, err := l.qp[0].PostSend([]verbs.SendWR{w})
		require.ErrorIs(t, err, verbs.EINVAL, "%v", w.Opcode)
	}
	for _, s := range [][]verbs.SGE{nil, local(99), {{Addr: l.Sides[0].Base, Length: 100, LKey: l.mr[0].LKey + 1}},
		append(local(100), local(100)...)} {
		_, err := l.qp[0].PostRecv([]verbs.RecvWR{{SGEs: s}})
		require.ErrorIs(t, err, verbs.EINVAL, "%v", s)
	}
	_, err := l.qp[0].PostSend([]verbs.SendWR{{ID: 5, Opcode: verbs.WRSend,
		SGEs: []verbs.SGE{{Addr: l.Sides[0].Base, Length: 10, LKey: l.mr[0].LKey + 1}}}})
	require.NoError(t, err)
	require.NoError(t, l.Settle())
	require.Equal(t, verbs.WCLocProtErr, l.poll(0)[0].Status)
}
