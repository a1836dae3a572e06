package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// TestWrongRequests checks that a request posted with the status of an error (Send.Status) fails with this status when
// its turn comes: earlier requests complete normally, later ones are flushed, and the peer receives none of these.
func TestWrongRequests(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		state verbs.State
		want  []verbs.Status
	}{
		{RC, verbs.QPSErr, []verbs.Status{0, 0, verbs.WCLocProtErr, verbs.WCFlushErr}},
		{UC, verbs.QPSSQE, []verbs.Status{0, 0, verbs.WCLocProtErr, verbs.WCFlushErr}},
		{UD, verbs.QPSSQE, []verbs.Status{0, 0, verbs.WCLocProtErr, verbs.WCFlushErr}},
		{Solar, verbs.QPSRTS, []verbs.Status{verbs.WCLocProtErr, 0, 0, 0}}, // independent requests
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			d := newDirectPair(t, c.kind, GoBackN)
			var wcs []Completion
			keep := &keeper{nullEnv: d.envs[0], wcs: &wcs}
			d.conns[0] = withEnv(t, d, c.kind, keep)
			op := verbs.WRSend
			if c.kind == Solar {
				op = verbs.WRWrite
			}
			for i := range 4 {
				if c.kind != Solar {
					require.NoError(t, d.conns[1].PostRecv(&Recv{Spans: []Span{{Len: 9000}}}))
				}
				s := Send{ID: uint64(i), Op: op, Flags: verbs.SendSignaled, Spans: []Span{{Len: 5000}}, AH: benchAH,
					RemoteQP: 101}
				if c.kind == UD {
					s.Spans[0].Len = 500
				}
				if i == 2 {
					s.Status, s.Spans = verbs.WCLocProtErr, make([]Span, maxSGE+1)
				}
				require.NoError(t, d.conns[0].Post(0, &s))
			}
			d.exchange()
			var got []verbs.Status
			for _, wc := range wcs {
				got = append(got, wc.Status)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.state, d.conns[0].State())
			require.Equal(t, verbs.QPSRTS, d.conns[1].State())
		})
	}
}

// TestNopsHoldUpNothing checks that packets of requests behind a NOP leave before it ends, and that it ends in its
// turn, after a failure as those behind the failed request do.
func TestNopsHoldUpNothing(t *testing.T) {
	d := newDirectPair(t, RC, GoBackN)
	var wcs []Completion
	c := withEnv(t, d, RC, &keeper{nullEnv: d.envs[0], wcs: &wcs})
	for i, op := range []verbs.Opcode{verbs.WRNop, verbs.WRWrite, verbs.WRNop, verbs.WRWrite, verbs.WRNop} {
		require.NoError(t, c.Post(0, &Send{ID: uint64(i), Op: op, Flags: verbs.SendSignaled}))
	}
	var o Out
	require.True(t, c.Next(0, &o))
	require.True(t, c.Next(0, &o))
	require.False(t, c.Next(0, &o), "two WRITEs, and no other packets")
	require.Equal(t, []Completion{{ID: 0, Opcode: verbs.WCNop}}, wcs, "nothing is before the first")
	require.NoError(t, c.Modify(0, verbs.QPSErr, nil))
	require.Len(t, wcs, 5)
	for i, w := range wcs[1:] {
		require.EqualValues(t, i+1, w.ID)
		require.Equal(t, verbs.WCFlushErr, w.Status)
	}
}

// keeper is an Env that records completions.
type keeper struct {
	*nullEnv
	wcs *[]Completion
}

func (k *keeper) Complete(c *Completion) { *k.wcs = append(*k.wcs, *c) }

// withEnv replaces end 0 of a directPair by a connection with another Env.
func withEnv(t *testing.T, d *directPair, kind Kind, env Env) Conn {
	spec := DefaultSpec(kind, 100)
	spec.Window = 64
	c, err := New(spec, env, nil, nil)
	require.NoError(t, err)
	a := DefaultAttr()
	a.Path, a.DestQP = testPath(0), 101
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		require.NoError(t, c.Modify(0, to, &a))
	}
	return c
}

// TestReceiveIntoForbiddenMemory checks that a receive request that names memory which must not be written fails with a
// local protection error when the first byte for that memory arrives, and that the sender gets a remote operational
// error.
func TestReceiveIntoForbiddenMemory(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	require.NoError(t, b.c.PostRecv(&Recv{ID: 7, Spans: []Span{{Len: 256}, {Len: 64, Key: keyNone}}}))
	require.NoError(t, b.c.PostRecv(&Recv{ID: 8}))
	first := Packet{BTH: wire.BTHFields{Opcode: wire.RCSendFirst, PKey: 0xffff, PSN: 2000}, Payload: 256}
	b.c.Input(0, &first)
	require.Empty(t, b.wcs)
	b.c.Placed(0, b.tokens[0], verbs.WCSuccess)
	b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCSendLast, PKey: 0xffff, PSN: 2001}, Payload: 4})
	require.Equal(t, []Completion{{ID: 7, Recv: true, Status: verbs.WCLocProtErr},
		{ID: 8, Recv: true, Status: verbs.WCFlushErr}}, b.wcs)
	require.Empty(t, b.events, "the completion tells")
	var o Out
	require.True(t, b.c.Next(0, &o))
	require.Equal(t, wire.NAKRemoteOperational, wire.AETH(o.Head[len(o.Head)-wire.AETHSize:]).Syndrome())
	require.Equal(t, verbs.QPSErr, b.c.State())
}

// TestAtomicsTakeTime checks that atomics are carried out one after the other, each after everything before it is in
// memory. One that fails must end the connection, and later requests get no answer.
func TestAtomicsTakeTime(t *testing.T) {
	b := newBare(t, GoBackN, nil)
	atomic := func(psn uint32) {
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCFetchAdd, PKey: 0xffff, PSN: psn, AckReq: true},
			SwapAdd: 1})
	}
	b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCWriteOnly, PKey: 0xffff, PSN: 2000},
		RETH: wire.RETHFields{DMALen: 8}, Payload: 8})
	for psn := uint32(2001); psn < 2004; psn++ {
		atomic(psn)
	}
	require.Empty(t, b.atomics, "the WRITE is on its way to memory")
	b.c.Placed(0, b.tokens[0], verbs.WCSuccess)
	require.Len(t, b.atomics, 1)
	b.c.AtomicDone(0, b.atomics[0]+100, 5, verbs.WCSuccess) // a token that the connection never used
	b.c.AtomicDone(0, b.atomics[0], 5, verbs.WCSuccess)
	require.Len(t, b.atomics, 2)
	var o Out
	var psns []uint32
	for b.c.Next(0, &o) {
		psns = append(psns, o.PSN)
	}
	require.Equal(t, []uint32{2001}, psns, "the first answer acknowledges the WRITE, too")
	b.c.AtomicDone(0, b.atomics[1], 0, verbs.WCGeneralErr)
	require.Len(t, b.atomics, 2, "the third is not begun")
	require.Equal(t, verbs.QPSErr, b.c.State())
	require.True(t, b.c.Next(0, &o))
	require.EqualValues(t, 2002, o.PSN)
	h := wire.AETH(o.Head[len(o.Head)-wire.AETHSize:])
	require.Equal(t, wire.NAKRemoteOperational, h.Syndrome())
	require.EqualValues(t, 2, h.MSN())
	require.False(t, b.c.Next(0, &o))
}

// TestNetworkHeader checks that a datagram's receive buffer begins with the network header, and that the sender's
// solicited event bit arrives.
func TestNetworkHeader(t *testing.T) {
	env := &nullEnv{}
	var wcs []Completion
	s := DefaultSpec(UD, 100)
	s.GRH = true
	c, err := New(s, &keeper{env, &wcs}, nil, nil)
	require.NoError(t, err)
	c.SetRights(0, 0x77)
	a := DefaultAttr()
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR} {
		require.NoError(t, c.Modify(0, to, &a))
	}
	in := func(n int) {
		c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.UDSendOnly, PKey: 0xffff, SE: true},
			DETH: wire.DETHFields{QKey: 0x77}, Payload: n})
	}
	for range 3 {
		require.NoError(t, c.PostRecv(&Recv{Spans: []Span{{Addr: 100, Len: 10}, {Addr: 200, Len: 60}}}))
	}
	in(30)
	require.Equal(t, []Part{{To: Span{Addr: 100, Len: 10}}, {Off: 10, To: Span{Addr: 200, Len: 30}}}, env.grh)
	require.Empty(t, wcs, "two copies are under way")
	for _, tok := range env.tokens {
		c.Placed(0, tok, verbs.WCSuccess)
	}
	require.Equal(t, []Completion{{Opcode: verbs.WCRecv, Recv: true, ByteLen: 70, Solicited: true}}, wcs)
	env.tokens = nil
	in(0)
	require.Len(t, env.tokens, 1, "a header without payload is placed, too")
	c.Placed(0, env.tokens[0], verbs.WCSuccess)
	require.EqualValues(t, GRHBytes, wcs[1].ByteLen)
	in(31)
	require.Equal(t, verbs.WCLocLenErr, wcs[2].Status)
}

// TestSharedQueueEvents checks that a shared queue reports once that it runs low, and that a connection in ERR reports
// that it takes nothing more from it.
func TestSharedQueueEvents(t *testing.T) {
	q, calls := NewRecvQueue(8, 1), 0
	for range 4 {
		require.NoError(t, q.Post(&Recv{}))
	}
	q.OnLimit(3, func() { calls++ })
	b := &bare{T: t}
	c, err := New(DefaultSpec(RC, 100), b, nil, q)
	require.NoError(t, err)
	a := DefaultAttr()
	a.Path = testPath(0)
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR} {
		require.NoError(t, c.Modify(0, to, &a))
	}
	for i, want := range []int{0, 1, 1} {
		c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: wire.RCSendOnly, PKey: 0xffff, PSN: uint32(i)}})
		require.Equal(t, want, calls)
	}
	require.NoError(t, c.Modify(0, verbs.QPSErr, nil))
	require.NoError(t, c.Modify(0, verbs.QPSErr, nil))
	require.Equal(t, []Event{EventLastWQE}, b.events)
}
