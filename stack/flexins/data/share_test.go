package data

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// deaf is a driver's bus to a NIC that never answers.
type deaf struct{}

func (deaf) WriteReg(uint32, []byte) error             { return nil }
func (deaf) ReadReg(uint32, int, func(uint64, error))  {}
func (deaf) Read(uint64, []byte, func(error))          {}
func (deaf) Write(uint64, []byte, func(error))         {}
func (deaf) Watch(uint64, int, func()) (func(), error) { return func() {}, nil }

// shareBench is a data core with a receive queue, and nothing else.
type shareBench struct {
	*testing.T
	e *simcore.Engine
	c *core
}

func newShareBench(t *testing.T) *shareBench {
	b := &shareBench{T: t, e: simcore.NewEngine()}
	spec := DefaultSpec()
	spec.Receive = Naive
	space, err := mem.NewSpace(1<<20, 1<<20)
	require.NoError(t, err)
	s, err := cpu.Preset("bf3")
	require.NoError(t, err)
	c := &core{spec: &spec, share: spec.share(0), qps: map[uint32]*qp{}, active: pipe.NewActive()}
	c.cpu, err = cpu.Builder{Scheduler: b.e, Spec: s, Memory: space, View: space, Watcher: space}.Build("Core")
	require.NoError(t, err)
	c.work, err = c.cpu.Add(cpu.LoopSpec{Name: "work", Poll: 1}, func(*cpu.Core) bool { return false })
	require.NoError(t, err)
	o := driver.DefaultOptions()
	o.Memory = [2]driver.Range{{From: 64, Bytes: 1 << 20}, {}}
	d, err := driver.New(deaf{}, o)
	require.NoError(t, err)
	c.rx, err = d.OpenRx(driver.RxConfig{QueueConfig: driver.QueueConfig{Queue: 1, LogSize: spec.LogReceive},
		PayBytes: spec.PayloadBytes, OnFrame: func(*driver.RxQueue, *driver.RxFrame) {}})
	require.NoError(t, err)
	c.reorder.open(1<<16, 4, spec.PayloadBytes)
	b.c = c
	return b
}

// run runs f as software of the core.
func (b *shareBench) run(f func()) {
	b.Helper()
	b.c.cpu.Call(f)
	require.NoError(b, b.e.Run())
	require.NoError(b, b.c.err)
}

// add adds a queue pair in state RTR.
func (b *shareBench) add(qpn uint32, kind transport.Kind, t verbs.QPType) *qp {
	q := &qp{config: QPConfig{QPN: qpn, Type: t}, core: b.c, timerIndex: -1}
	var err error
	q.conn, err = transport.New(transport.DefaultSpec(kind, qpn), q, nil, nil)
	require.NoError(b, err)
	b.c.qps[qpn] = q
	b.to(q, verbs.QPSInit)
	b.to(q, verbs.QPSRTR)
	return q
}

func (b *shareBench) to(q *qp, s verbs.State) {
	b.run(func() {
		a := transport.DefaultAttr()
		a.Path.Local = transport.Address{IP: netip.MustParseAddr("10.0.0.1"), MAC: [6]byte{2, 0, 0, 0, 0, 1}}
		a.Path.Peer = transport.Address{IP: netip.MustParseAddr("10.0.0.2"), MAC: [6]byte{2, 0, 0, 0, 0, 2}}
		require.NoError(b, q.conn.Modify(0, s, &a))
		b.c.wake(q)
	})
}

// hold returns the handle of a packet that is received for a queue pair.
func (b *shareBench) hold(q *qp, request bool) transport.Handle {
	h, p := b.c.packets.take()
	p.at, p.n, p.bytes = 0x1000, 128, 128
	q.hold(p, request)
	return h
}

// TestShares checks that a core's receive queue is shared by its reliable queue pairs, from RTR until they fail or are
// reset.
func TestShares(t *testing.T) {
	b := newShareBench(t)
	const half = 512/2 - 32
	require.Equal(t, half, b.c.share)
	x := b.add(8, transport.RC, verbs.QPTRC)
	require.Equal(t, half, b.c.share)
	y, z := b.add(16, transport.RC, verbs.QPTRC), b.add(24, transport.RC, verbs.QPTRC)
	require.Equal(t, half/3, b.c.share)
	b.add(32, transport.UC, verbs.QPTUC)
	require.Equal(t, half/3, b.c.share)
	b.to(x, verbs.QPSRTS)
	require.Equal(t, half/3, b.c.share)
	b.to(y, verbs.QPSErr)
	require.Equal(t, half/2, b.c.share, "it has failed")
	b.to(y, verbs.QPSReset)
	b.to(z, verbs.QPSReset)
	require.Equal(t, half, b.c.share)
	b.to(z, verbs.QPSInit)
	b.to(z, verbs.QPSRTR)
	require.Equal(t, half/2, b.c.share)
	s := DefaultSpec()
	require.Equal(t, 1, s.share(1000))
}

// TestHeldBuffers checks that the buffer of a packet counts against the share of its RC queue pair until it can receive
// the next packet, that requests and answers are counted separately, and that packets of other services do not count.
func TestHeldBuffers(t *testing.T) {
	b := newShareBench(t)
	q, u := b.add(8, transport.RC, verbs.QPTRC), b.add(16, transport.UC, verbs.QPTUC)
	free := func(requests, answers int) {
		t.Helper()
		share, r, a := q.Buffers()
		require.Equal(t, []int{b.c.share, share - requests, share - answers}, []int{share, r, a})
	}
	request, again, answer, other := b.hold(q, true), b.hold(q, true), b.hold(q, false), b.hold(u, true)
	free(2, 1)
	b.run(func() { b.c.drop(other) })
	free(2, 1)
	b.run(func() { b.c.drop(answer) })
	free(2, 0)
	b.c.active.Remove(8)
	b.run(func() { q.Keep(request) })
	free(1, 0)
	require.Equal(t, 1, b.c.active.Work(8), "it has room to tell its peer of")
	b.run(func() { b.c.drop(request) }) // from reorder memory
	free(1, 0)
	delete(b.c.qps, 8) // destroyed while a buffer is being copied
	b.to(q, verbs.QPSReset)
	b.run(func() { b.c.drop(again) })
	free(0, 0)
	require.Zero(t, b.c.sharers)
	require.Equal(t, 4, b.c.rx.Waiting())
}

// TestCollect checks the limits of collect_lines, the number of lines that one DMA carries.
func TestCollect(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	s.Pipe.Batch, s.Burst = 2, 16
	require.Equal(t, 8, s.Collecting().Batch, "it depends on neither")
	for _, n := range []int{0, 33} {
		s.Collect = n
		require.EqualError(t, s.Validate(), fmt.Sprintf("collect_lines %d: want 1 to 32, half the lines of a ring "+
			"(pipe.log_lines, log_completions)", n))
	}
	s.Collect, s.LogCompletions = 8, 3
	require.ErrorContains(t, s.Validate(), "collect_lines 8: want 1 to 4, half the lines of a ring")
	for _, n := range []int{-1, 17} {
		s.LogCompletions = n
		require.EqualError(t, s.Validate(), fmt.Sprintf("log_completions %d: want 0 to 16", n))
	}
	s.LogCompletions, s.Collect = 0, 1
	require.NoError(t, s.Validate())
	require.NoError(t, s.Completions().Validate())
}
