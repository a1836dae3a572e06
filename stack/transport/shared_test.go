package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// TestSharedReceives checks that connections that share a receive queue take its requests in the order in which
// messages begin, and that a connection that fails flushes only the requests that it took.
func TestSharedReceives(t *testing.T) {
	q := NewRecvQueue(8, 1)
	var ends []*bare
	for range 2 {
		b := &bare{T: t}
		conn, err := New(DefaultSpec(RC, 100), b, nil, q)
		require.NoError(t, err)
		b.c = conn.(*rc)
		a := DefaultAttr()
		a.Path, a.RecvPSN = testPath(0), 2000
		require.NoError(t, conn.Modify(0, verbs.QPSInit, &a))
		require.NoError(t, conn.Modify(0, verbs.QPSRTR, &a))
		require.ErrorIs(t, conn.PostRecv(&Recv{}), ErrState, "requests go to the shared queue")
		ends = append(ends, b)
	}
	for id := range uint64(4) {
		require.NoError(t, q.Post(&Recv{ID: id, Spans: []Span{{Len: 8192}}}))
	}
	send := func(b *bare, op wire.Opcode, psn uint32, n int) {
		b.c.Input(0, &Packet{BTH: wire.BTHFields{Opcode: op, PKey: 0xffff, PSN: psn}, Payload: n})
		for _, tok := range b.tokens {
			b.c.Placed(0, tok, verbs.WCSuccess)
		}
		b.tokens = nil
	}
	send(ends[0], wire.RCSendFirst, 2000, 4096)
	send(ends[1], wire.RCSendOnly, 2000, 8)
	send(ends[0], wire.RCSendLast, 2001, 1)
	send(ends[0], wire.RCSendFirst, 2002, 4096)
	require.NoError(t, ends[0].c.Modify(0, verbs.QPSErr, nil))
	require.Equal(t, []Completion{{ID: 1, Opcode: verbs.WCRecv, Recv: true, ByteLen: 8}}, ends[1].wcs)
	require.Equal(t, []Completion{{ID: 0, Opcode: verbs.WCRecv, Recv: true, ByteLen: 4097},
		{ID: 2, Status: verbs.WCFlushErr, Recv: true}}, ends[0].wcs)
	require.Equal(t, 1, q.Len())
}
