package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/stack/flexins/data"
	"nictwin/stack/flexins/node"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

// connected is a pair of connected queue pairs, one on each side of a bench.
type connected struct {
	*verbstest.Bench
	qp [2]verbs.QP
	cq [2]verbs.CQ
	mr [2]verbs.MR
}

func connect(t testing.TB, b *verbstest.Bench) *connected {
	return connectLow(t, b, 0)
}

// connectLow connects low-latency queue pairs for messages of `low` bytes or, if that is 0, ordinary queue pairs.
func connectLow(t testing.TB, b *verbstest.Bench, low int) *connected {
	c := &connected{Bench: b}
	must := func(err error) { require.NoError(t, err) }
	for i, s := range b.Sides {
		var pd verbs.PD
		s.Context.AllocPD(func(x verbs.PD, err error) { must(err); pd = x })
		s.Context.RegMR(pd, s.Base, s.Bytes, verbs.AccessLocalWrite|verbs.AccessRemoteWrite,
			func(m verbs.MR, err error) {
				must(err)
				c.mr[i] = m
			})
		s.Context.CreateCQ(64, func(x verbs.CQ, err error) { must(err); c.cq[i] = x })
		must(b.Settle())
		init := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: c.cq[i], RecvCQ: c.cq[i], LowLatency: low,
			Cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1,
				MaxInline: max(low, data.MaxInline)}}
		s.Context.CreateQP(pd, init, func(x verbs.QP, err error) { must(err); c.qp[i] = x })
		must(b.Settle())
	}
	c.toRTS(t, b)
	return c
}

// toRTS brings the queue pairs from RESET to RTS.
func (c *connected) toRTS(t testing.TB, b *verbstest.Bench) {
	must := func(err error) { require.NoError(t, err) }
	for i, s := range b.Sides {
		a := verbs.QPAttr{Port: 1, Access: verbs.AccessRemoteWrite, AH: s.Peer, PathMTU: verbs.MTU4096,
			DestQPN: c.qp[1-i].Num(), MinRNRTimer: 1, Timeout: 10, RetryCnt: 7, RNRRetry: 7}
		from := verbs.QPSReset
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			mask, _, _ := verbs.Transition(verbs.QPTRC, from, to)
			a.State = to
			s.Context.ModifyQP(c.qp[i], a, mask|verbs.QPState, must)
			must(b.Settle())
			from = to
		}
	}
}

// TestFlexinsNoAllocations checks that posting, executing and polling requests allocates nothing in steady
// state: in the library, the data cores and all models of both boards.
func TestFlexinsNoAllocations(t *testing.T) {
	for name, change := range map[string]func(*node.Spec){
		"flexins": func(*node.Spec) {},
		"staged":  func(s *node.Spec) { s.Data.Transmit, s.Data.StagingInvalidate = data.DMAStaged, true },
		"fixed":   func(s *node.Spec) { s.Data.CC.Kind = data.CongestionFixed },
		"dcqcn":   func(s *node.Spec) { s.Data.CC.Kind = data.DCQCN },
		"dctcp":   func(s *node.Spec) { s.Data.CC.Kind = data.DCTCP },
		"low":     func(s *node.Spec) { s.LowLatency = 1 },
		"spray":   func(s *node.Spec) { s.Data.Recovery, s.Data.Spray = transport.SelectiveRepeat, true },
	} {
		t.Run(name, func(t *testing.T) {
			s := node.DefaultSpec()
			s.DataCores = 1
			change(&s)
			noAllocations(t, s)
		})
	}
}

// noAllocations checks that nodes allocate nothing in steady state, on cables that mark a third of the packets.
func noAllocations(t *testing.T, s node.Spec) {
	b, nodes, e, _ := newNodesOn(t, s, false,
		func(r *board.RackSpec) { r.Network.Faults = &inject.WireSpec{Chances: inject.Chances{ECN: 0.3}} })
	low := 0
	if s.LowLatency > 0 {
		low = 1000
	}
	c := connectLow(t, b, low)
	side := &c.Sides[0]
	list := []verbs.SendWR{
		{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled,
			SGEs: []verbs.SGE{{Addr: side.Base, Length: 4096, LKey: c.mr[0].LKey}}},
		{ID: 2, Opcode: verbs.WRWrite, SGEs: []verbs.SGE{{Addr: side.Base, Length: 100, LKey: c.mr[0].LKey}},
			RemoteAddr: c.Sides[1].Base, RKey: c.mr[1].RKey},
	}
	if low > 0 {
		list = list[:1]
		list[0].SGEs[0].Length = 1000
	}
	recvs := []verbs.RecvWR{{ID: 3, SGEs: []verbs.SGE{{Addr: c.Sides[1].Base, Length: 4096, LKey: c.mr[1].LKey}}}}
	wcs := make([]verbs.WC, 4)
	bad, ended := false, 0
	round := func() {
		n, err := c.qp[1].PostRecv(recvs)
		bad = bad || n != 1 || err != nil
		n, err = c.qp[0].PostSend(list)
		bad = bad || n != len(list) || err != nil || e.Run() != nil
		for _, cq := range c.cq {
			n, err := cq.Poll(wcs)
			ended += n
			bad = bad || err != nil
		}
	}
	// The warm-up uses every buffer of the receive queues, even if only one packet of a round takes one.
	const warm, runs = 600, 100
	for range warm {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(runs, round))
	require.False(t, bad)
	require.Equal(t, 2*(warm+1+runs), ended)
	require.Equal(t, s.Data.CC.Kind == data.DCQCN || s.Data.CC.Kind == data.DCTCP, nodes[1].Stats().Marked > 0)
}
