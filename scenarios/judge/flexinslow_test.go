package judge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nictest"
	"nictwin/models/simcore"
	"nictwin/stack/flexins/node"
	"nictwin/stack/verbs"
)

// lowLatency is two nodes with a low-latency queue pair between them, on cables that do to frames what faults say.
type lowLatency struct {
	*connected
	t     *testing.T
	nodes []*node.Node
	e     *simcore.Engine
	most  int
}

func newLowLatency(t *testing.T, most int, faults *inject.WireSpec, change func(*node.Spec)) *lowLatency {
	s := node.DefaultSpec()
	s.DataCores, s.LowLatency = 2, 2
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

// buffer is where receive request i of the second side has its memory.
func (l *lowLatency) buffer(i int) uint64 { return l.Sides[1].Base + uint64(i)*8192 }

func (l *lowLatency) recv(i int) {
	l.t.Helper()
	n, err := l.qp[1].PostRecv([]verbs.RecvWR{{ID: uint64(i), SGEs: []verbs.SGE{{Addr: l.buffer(i), Length: uint32(l.most), LKey: l.mr[1].LKey}}}})
	require.NoError(l.t, err)
	require.Equal(l.t, 1, n)
}

// send posts message m of n bytes: from memory, or inline.
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

// holds requires the message of a completion in the buffer that the completion names.
func (l *lowLatency) holds(w *verbs.WC, m, n int) {
	l.t.Helper()
	require.Equal(l.t, verbs.WC{ID: w.ID, Opcode: verbs.WCRecv, Flags: verbs.WCWithImm, Imm: uint32(m), ByteLen: uint32(n), QPN: l.qp[1].Num()}, *w)
	b := make([]byte, n)
	require.NoError(l.t, l.Sides[1].Memory.Read(l.buffer(int(w.ID)), b))
	require.Equal(l.t, nictest.Pattern(n, uint64(m)), b)
}

// Messages of all lengths up to an MTU arrive in the buffers of receive requests, in order, and no byte of them is copied.
func TestFlexinsLowLatency(t *testing.T) {
	l := newLowLatency(t, 4096, nil, func(s *node.Spec) { s.Data.Pipe.LogLines = 8 })
	sizes := []int{0, 1, 63, 64, 118, 119, 220, 221, 512, 1024, 1025, 4095, 4096}
	for i := range sizes {
		l.recv(i)
	}
	require.NoError(t, l.Settle())
	before := l.nodes[1].Stats()
	for m, n := range sizes {
		l.send(m, n, m%2 == 1)
		if m%4 == 3 { // the pipe has no room for all
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
	require.EqualValues(t, 64*(st.Completions-before.Completions), st.Copied-before.Copied, "completions alone are copied")
}
