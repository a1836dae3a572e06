package transport

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// landings is a bare end whose NIC writes payload to the buffers of receive requests. It records which packets are
// placed and dropped.
type landings struct {
	*bare
	taken, dropped []Handle
}

func (l *landings) Place(h Handle, parts []Part, t Token) bool {
	require.Empty(l, parts)
	require.Zero(l, t)
	l.taken = append(l.taken, h)
	return false
}

func (l *landings) Drop(h Handle) { l.dropped = append(l.dropped, h) }

func newLandings(t *testing.T, r Recovery) *landings {
	l := &landings{bare: &bare{T: t}}
	s := DefaultSpec(RC, 100)
	s.Recovery, s.Landing = r, 200
	conn, err := New(s, l, nil, nil)
	require.NoError(t, err)
	l.c = conn.(*rc)
	a := DefaultAttr()
	a.Path, a.DestQP, a.RecvPSN, a.MTU = testPath(0), 101, 0, 256
	for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR} {
		require.NoError(t, conn.Modify(0, to, &a))
	}
	return l
}

// land delivers packet h, whose payload the NIC wrote to the buffer of request 100+h if landed is set. It returns the
// opcodes of the answers.
func (l *landings) land(h Handle, psn uint32, op wire.Opcode, n int, landed bool) []wire.Opcode {
	p := Packet{Handle: h, BTH: wire.BTHFields{Opcode: op, PKey: 0xffff, PSN: psn, AckReq: true}, Payload: n,
		Landed: landed, RecvID: uint64(100 + h), Imm: 7}
	l.c.Input(0, &p)
	ops, _ := l.pull(0)
	return ops
}

// TestLanded checks that an accepted packet completes the receive request that it used, and that any other packet
// leaves its request alone.
func TestLanded(t *testing.T) {
	l := newLandings(t, GoBackN)
	require.Equal(t, []wire.Opcode{wire.RCAck}, l.land(1, 0, wire.RCSendOnly, 200, true))
	l.land(2, 0, wire.RCSendOnly, 200, true)    // a duplicate
	l.land(3, 2, wire.RCSendOnly, 10, true)     // PSN 2 before PSN 1
	l.land(4, 1, wire.RCSendOnlyImm, 0, true)   // without payload
	l.land(5, 2, wire.RCSendOnly, 10, false)    // the NIC had no receive request
	require.EqualValues(t, 1, l.c.Stats().RNRs) // for the last packet the peer gets an RNR NAK
	l.land(6, 2, wire.RCSendOnly, 10, true)
	require.Equal(t, []Handle{1, 4, 6}, l.taken)
	require.Equal(t, []Handle{2, 3, 5}, l.dropped)
	require.Equal(t, []Completion{
		{ID: 101, Opcode: verbs.WCRecv, Recv: true, ByteLen: 200},
		{ID: 104, Opcode: verbs.WCRecv, Recv: true, Imm: 7, HasImm: true},
		{ID: 106, Opcode: verbs.WCRecv, Recv: true, ByteLen: 10},
	}, l.wcs)
}

// TestLandedEarly checks that with selective repeat packets that arrive too early keep their buffers, and complete in
// order.
func TestLandedEarly(t *testing.T) {
	l := newLandings(t, SelectiveRepeat)
	l.land(1, 2, wire.RCSendOnly, 12, true)
	l.land(2, 1, wire.RCSendOnly, 11, true)
	l.land(3, 1, wire.RCSendOnly, 11, true)
	require.Empty(t, l.taken)
	l.land(4, 0, wire.RCSendOnly, 10, true)
	require.Equal(t, []Handle{4, 2, 1}, l.taken)
	require.Equal(t, []Handle{3}, l.dropped)
	var ids []uint64
	for _, w := range l.wcs {
		ids = append(ids, w.ID)
	}
	require.Equal(t, []uint64{104, 102, 101}, ids)
}

// TestLandedInvalid checks that a SEND that takes more than one packet is an invalid request, because no single buffer
// can hold it.
func TestLandedInvalid(t *testing.T) {
	for _, c := range []struct {
		op     wire.Opcode
		n      int
		landed bool
	}{{wire.RCSendFirst, 256, false}, {wire.RCSendOnly, 201, false}, {wire.RCSendOnly, 201, true},
		{wire.RCSendOnlyInv, 10, false}} {
		l := newLandings(t, GoBackN)
		l.land(1, 0, c.op, c.n, c.landed)
		require.Equal(t, verbs.QPSErr, l.c.State(), "%v of %d B", c.op, c.n)
		require.Equal(t, []Event{EventQPReqErr}, l.events)
		require.Equal(t, []Handle{1}, l.dropped)
		require.Empty(t, l.wcs)
	}
	s := DefaultSpec(UC, 100)
	s.Landing = 10
	require.ErrorContains(t, s.Validate(), "landing is 10 with kind UC: only RC has it")
}
