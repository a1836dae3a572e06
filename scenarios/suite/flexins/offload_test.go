package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/flexins/node"
	"nictwin/stack/offload"
	"nictwin/stack/offload/handlers"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

// TestFlexinsOffload sends requests to handlers on an engine core of the other card: one walks a list in its
// host's memory by DMAs of the NIC, one reads many values at once. An error names a handler that misbehaves, and its
// client is notified. The referees see every byte.
func TestFlexinsOffload(t *testing.T) {
	s := node.DefaultSpec()
	s.DataCores = 2
	b, nodes, _ := newNodesWith(t, s, true)
	c := connectRC(t, b)
	server := nodes[1]
	require.NoError(t, server.Expose(c[1].mr, c[1].qp))
	e := server.Engines()[0]
	require.NoError(t, e.RegisterOpcode(handlers.CodeList, c[1].qp.Num(), handlers.List))
	require.NoError(t, e.RegisterOpcode(handlers.CodeBatch, c[1].qp.Num(), handlers.Batch))
	require.NoError(t, e.RegisterOpcode(3, c[1].qp.Num(), func(x *offload.Context) error {
		x.SubmitDMA(offload.FromHost, 0, x.Alloc(64), 64)
		return nil
	}))
	served := false
	server.Serve(c[1].qp, 16, func(err error) { require.NoError(t, err); served = true })
	require.NoError(t, b.Settle())
	require.True(t, served)
	base := b.Sides[1].Base
	node := make([]byte, handlers.NodeBytes)
	for i := range uint64(20) {
		next := base + (i+1)*4096
		if i == 19 {
			next = 0
		}
		handlers.EncodeNode(node, 1000+i, []byte{byte(i + 1)}, next)
		require.NoError(t, b.Sides[1].Memory.Write(base+i*4096, node))
	}
	ask := func(req []byte, n int) handlers.Response {
		at := b.Sides[0].Base
		require.NoError(t, b.Sides[0].Memory.Write(at, req))
		_, err := c[0].qp.PostRecv(
			[]verbs.RecvWR{{SGEs: []verbs.SGE{{Addr: at + 8192, Length: uint32(n), LKey: c[0].mr.LKey}}}})
		require.NoError(t, err)
		_, err = c[0].qp.PostSend([]verbs.SendWR{{Opcode: verbs.WRSend,
			SGEs: []verbs.SGE{{Addr: at, Length: uint32(len(req)), LKey: c[0].mr.LKey}}}})
		require.NoError(t, err)
		require.NoError(t, b.Settle())
		var wc [1]verbs.WC
		k, err := c[0].cq.Poll(wc[:])
		require.NoError(t, err)
		require.Equal(t, 1, k)
		require.Equal(t, verbs.WCSuccess, wc[0].Status)
		got := make([]byte, wc[0].ByteLen)
		require.NoError(t, b.Sides[0].Memory.Read(at+8192, got))
		r, err := handlers.Decode(got)
		require.NoError(t, err)
		return r
	}
	req := make([]byte, handlers.ListRequestBytes)
	handlers.EncodeList(req, 7, base, 1015, 100)
	r := ask(req, 256)
	require.Equal(t, offload.OK, r.Status)
	x, err := handlers.DecodeList(r.Data)
	require.NoError(t, err)
	require.EqualValues(t, 16, x.Hops)
	require.EqualValues(t, 16, x.Value[0])
	var addrs []uint64
	for i := range uint64(20) {
		addrs = append(addrs, base+8+(19-i)*4096)
	}
	req = make([]byte, handlers.BatchRequestBytes(len(addrs)))
	handlers.EncodeBatch(req, 8, addrs)
	r = ask(req, 4096)
	require.Equal(t, offload.OK, r.Status)
	for i := range addrs {
		require.EqualValues(t, 20-i, r.Data[64*i])
	}
	req = req[:8]
	req[0], req[1] = 3, 0
	require.Equal(t, offload.Misbehaved, ask(req, 64).Status)
	faults, _ := e.Faults()
	require.Len(t, faults, 1)
	require.ErrorContains(t, &faults[0], "want bytes of a region that its queue pair has")
	for range 40 { // more requests, one after the other, than there are buffers
		require.Equal(t, offload.Misbehaved, ask(req, 64).Status)
	}
}

// end is a connected queue pair, with a completion queue and a region of all memory.
type end struct {
	qp verbs.QP
	cq verbs.CQ
	mr verbs.MR
}

// connectRC connects an RC queue pair on each side.
func connectRC(t *testing.T, b *verbstest.Bench) (c [2]end) {
	const all = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic
	var pds [2]verbs.PD
	for i := range c {
		x, s := &c[i], &b.Sides[i]
		s.Context.AllocPD(func(pd verbs.PD, err error) { require.NoError(t, err); pds[i] = pd })
		s.Context.CreateCQ(256, func(q verbs.CQ, err error) { require.NoError(t, err); x.cq = q })
		s.Context.RegMR(pds[i], s.Base, s.Bytes, all, func(m verbs.MR, err error) { require.NoError(t, err); x.mr = m })
		a := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: x.cq, RecvCQ: x.cq,
			Cap: verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 1, MaxRecvSGE: 1}}
		s.Context.CreateQP(pds[i], a, func(q verbs.QP, err error) { require.NoError(t, err); x.qp = q })
	}
	require.NoError(t, b.Settle())
	for i := range c {
		a := verbs.QPAttr{Port: 1, Access: all, AH: b.Sides[i].Peer, PathMTU: verbs.MTU4096, DestQPN: c[1-i].qp.Num(),
			MaxRdAtomic: 4, MaxDestRdAtomic: 4,
			MinRNRTimer: 1, Timeout: 14, RetryCnt: 7, RNRRetry: 7}
		from := verbs.QPSReset
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			mask, _, _ := verbs.Transition(verbs.QPTRC, from, to)
			a.State = to
			b.Sides[i].Context.ModifyQP(c[i].qp, a, mask|verbs.QPState, func(err error) { require.NoError(t, err) })
			require.NoError(t, b.Settle())
			from = to
		}
	}
	return c
}
