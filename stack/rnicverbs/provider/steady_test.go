package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

// connected is a queue pair of the first side whose peer is on the second.
type connected struct {
	*verbstest.Bench
	qp [2]verbs.QP
	cq [2]verbs.CQ
	mr [2]verbs.MR
}

func connect(t testing.TB, entries, depth int) (*connected, [2]*rnicverbs.Device) {
	return connectOn(t, entries, depth, func(_ *simcore.Engine, b driver.Bus) driver.Bus { return b })
}

// connectOn connects two queue pairs with completion queues of so many entries; bus wraps the bus of each driver.
func connectOn(t testing.TB, entries, depth int, bus func(*simcore.Engine, driver.Bus) driver.Bus) (*connected,
	[2]*rnicverbs.Device) {
	b, devs := newBenchOn(t, bus)
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
		s.Context.CreateCQ(entries, func(x verbs.CQ, err error) { must(err); c.cq[i] = x })
		must(b.Settle())
		init := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: c.cq[i], RecvCQ: c.cq[i],
			Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1}}
		s.Context.CreateQP(pd, init, func(x verbs.QP, err error) { must(err); c.qp[i] = x })
	}
	for i, s := range b.Sides {
		a := verbs.QPAttr{Port: 1, Access: verbs.AccessRemoteWrite, AH: s.Peer, PathMTU: verbs.MTU1024,
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
	return c, devs
}

// TestNoAllocations checks that posting and polling allocate nothing in steady state.
func TestNoAllocations(t *testing.T) {
	c, _ := connect(t, 64, 16)
	s := &c.Sides[0]
	list := []verbs.SendWR{{
		ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled,
		SGEs: []verbs.SGE{{Addr: s.Base, Length: 64, LKey: c.mr[0].LKey}},
	}, {
		ID: 2, Opcode: verbs.WRWrite, SGEs: []verbs.SGE{{Addr: s.Base, Length: 64, LKey: c.mr[0].LKey}},
		RemoteAddr: c.Sides[1].Base, RKey: c.mr[1].RKey,
	}}
	recvs := []verbs.RecvWR{{ID: 3, SGEs: []verbs.SGE{{Addr: c.Sides[1].Base, Length: 64, LKey: c.mr[1].LKey}}}}
	wcs := make([]verbs.WC, 4)
	bad, ended := false, 0
	round := func() {
		n, err := c.qp[1].PostRecv(recvs)
		bad = bad || n != 1 || err != nil
		n, err = c.qp[0].PostSend(list)
		bad = bad || n != 2 || err != nil
		n, err = c.qp[0].PostSend(list[1:])
		bad = bad || n != 1 || err != nil || c.Settle() != nil
		for _, cq := range c.cq {
			n, err := cq.Poll(wcs)
			ended += n
			bad = bad || err != nil
		}
	}
	for range 200 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(50, round))
	require.False(t, bad)
	require.Equal(t, 2*251, ended)
}

// TestRingCannotOverrun checks that a request is not posted if a completion queue's ring has no place for its
// completion.
func TestRingCannotOverrun(t *testing.T) {
	c, _ := connect(t, 4, 16) // the completion ring has 8 slots in memory
	n, err := c.qp[0].PostRecv(make([]verbs.RecvWR, 5))
	require.NoError(t, err)
	require.Equal(t, 5, n)
	list := make([]verbs.SendWR, 4)
	for i := range list {
		list[i] = verbs.SendWR{Opcode: verbs.WRWrite, Flags: verbs.SendSignaled}
	}
	n, err = c.qp[0].PostSend(list)
	require.ErrorIs(t, err, verbs.ENOMEM)
	require.Equal(t, 3, n)
	n, err = c.qp[0].PostRecv(make([]verbs.RecvWR, 1))
	require.ErrorIs(t, err, verbs.ENOMEM)
	require.Zero(t, n)
	require.NoError(t, c.Settle())
	n, err = c.qp[0].PostSend(list)
	require.ErrorIs(t, err, verbs.ENOMEM, "what has come makes room, the receives keep theirs")
	require.Equal(t, 3, n)
}

// TestDestroyBusy checks that a queue pair with a request in flight cannot be destroyed, but can once the request has
// ended.
func TestDestroyBusy(t *testing.T) {
	c, devs := connect(t, 16, 4)
	_, err := c.qp[0].PostSend([]verbs.SendWR{{Opcode: verbs.WRSend, Flags: verbs.SendSignaled}})
	require.NoError(t, err)
	var first, second error
	c.Sides[0].Context.DestroyQP(c.qp[0], func(err error) { first = err })
	_, err = c.qp[1].PostRecv(make([]verbs.RecvWR, 1))
	require.NoError(t, err)
	require.NoError(t, c.Settle())
	require.ErrorIs(t, first, verbs.EBUSY)
	c.Sides[0].Context.DestroyQP(c.qp[0], func(err error) { second = err })
	require.NoError(t, c.Settle())
	require.NoError(t, second)
	require.NoError(t, devs[0].Err())
	wcs := make([]verbs.WC, 4)
	n, err := c.cq[0].Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, n, "completions of a queue pair go with it")
}

// TestDestroyBusySRQ checks that a shared receive queue whose requests the NIC is reading stays whole, and can be
// destroyed afterwards, with them.
func TestDestroyBusySRQ(t *testing.T) {
	c, devs := connect(t, 16, 4)
	s := c.Sides[0].Context
	var pd verbs.PD
	s.AllocPD(func(x verbs.PD, err error) { require.NoError(t, err); pd = x })
	var srq verbs.SRQ
	s.CreateSRQ(pd, verbs.SRQAttr{MaxWR: 4, MaxSGE: 1}, func(x verbs.SRQ, err error) {
		require.NoError(t, err)
		srq = x
	})
	require.NoError(t, c.Settle())
	_, err := srq.PostRecv(make([]verbs.RecvWR, 2))
	require.NoError(t, err)
	var first, second error
	s.DestroySRQ(srq, func(err error) { first = err })
	require.NoError(t, c.Settle())
	require.ErrorIs(t, first, verbs.EBUSY)
	s.DestroySRQ(srq, func(err error) { second = err })
	require.NoError(t, c.Settle())
	require.NoError(t, second)
	require.NoError(t, devs[0].Err())
}

// gate is a bus that delays reads of memory while it is closed.
type gate struct {
	driver.Bus
	closed bool
	held   []func()
}

func (g *gate) Read(addr uint64, b []byte, done func(error)) {
	if g.closed {
		g.held = append(g.held, func() { g.Bus.Read(addr, b, done) })
		return
	}
	g.Bus.Read(addr, b, done)
}

func (g *gate) open() {
	g.closed = false
	for _, f := range g.held {
		f()
	}
	g.held = nil
}

// TestNumbersAreNotFreedEarly checks that a queue pair's number is freed only once its completion entries have been
// read; otherwise they would be attributed to the next queue pair with that number.
func TestNumbersAreNotFreedEarly(t *testing.T) {
	var gates []*gate
	c, devs := connectOn(t, 16, 4, func(_ *simcore.Engine, b driver.Bus) driver.Bus {
		gates = append(gates, &gate{Bus: b})
		return gates[len(gates)-1]
	})
	g, s := gates[0], c.Sides[0].Context
	g.closed = true
	for range 2 {
		_, err := c.qp[0].PostSend([]verbs.SendWR{{Opcode: verbs.WRWrite, Flags: verbs.SendSignaled}})
		require.NoError(t, err)
		require.NoError(t, c.Settle())
	}
	destroyed := false
	s.DestroyQP(c.qp[0], func(err error) { require.NoError(t, err); destroyed = true })
	require.NoError(t, c.Settle())
	require.False(t, destroyed, "completion entries of it have not been read")
	var pd verbs.PD
	s.AllocPD(func(x verbs.PD, err error) { require.NoError(t, err); pd = x })
	create := func() (n uint32) {
		init := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: c.cq[0], RecvCQ: c.cq[0],
			Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4}}
		s.CreateQP(pd, init, func(x verbs.QP, err error) { require.NoError(t, err); n = x.Num() })
		return n
	}
	require.NotEqual(t, c.qp[0].Num(), create())
	g.open()
	require.NoError(t, c.Settle())
	require.True(t, destroyed)
	require.NoError(t, devs[0].Err())
	require.Equal(t, c.qp[0].Num(), create())
}

// TestDriverEnded checks that after the driver has ended every verb returns EIO.
func TestDriverEnded(t *testing.T) {
	c, devs := connect(t, 16, 4)
	devs[0].DeregMR(12345) // the NIC refuses this key, which ends the driver
	require.NoError(t, c.Settle())
	require.Error(t, devs[0].Err())
	ends := 0
	c.Sides[0].Context.QueryQP(c.qp[0],
		func(_ verbs.QPAttr, _ verbs.QPInitAttr, err error) { ends++; require.ErrorIs(t, err, verbs.EIO) })
	c.Sides[0].Context.DeregMR(c.mr[0].LKey, func(err error) { ends++; require.ErrorIs(t, err, verbs.EIO) })
	require.Equal(t, 2, ends)
	_, err := c.qp[0].PostSend([]verbs.SendWR{{Opcode: verbs.WRSend}})
	require.ErrorIs(t, err, verbs.EIO)
	_, err = c.cq[0].Poll(make([]verbs.WC, 1))
	require.ErrorIs(t, err, verbs.EIO)
}

// TestSpec checks that every invalid field of a spec is named.
func TestSpec(t *testing.T) {
	_, err := provider.New(nil, provider.Spec{MTU: verbs.MTU8192})
	require.ErrorContains(t, err, "ports are 0: want 1 or more")
	require.ErrorContains(t, err, "mtu 8192: want 256, 512, 1024, 2048 or 4096")
}
