package provider_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/server/cpu"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/driver/drivertest"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
	"nictwin/stack/verbs"
	"nictwin/stack/verbs/verbstest"
)

// buses makes buses for the software of a side.
var buses = map[string]func(testing.TB, *simcore.Engine, rootbus.Bus) driver.Bus{
	"at once": func(_ testing.TB, _ *simcore.Engine, b rootbus.Bus) driver.Bus { return b },
	"late": func(_ testing.TB, e *simcore.Engine, b rootbus.Bus) driver.Bus {
		return &drivertest.Late{Bus: b, Soon: func(f func()) {
			e.Schedule(&simcore.Event{At: simcore.Now(e) + 70*simcore.Nanosecond, H: call(f)})
		}}
	},
	"cores": func(t testing.TB, e *simcore.Engine, b rootbus.Bus) driver.Bus {
		spec, err := cpu.Preset("host-ce")
		require.NoError(t, err)
		core, err := cpu.Builder{Scheduler: e, Spec: spec, Memory: b.Memory}.Build("Core")
		require.NoError(t, err)
		bus, err := corebus.New(core, b.Regs, corebus.HostSpec())
		require.NoError(t, err)
		return bus
	},
}

// sharing is a server with several contexts, whose queue pairs have one shared receive queue, and a peer.
type sharing struct {
	*verbstest.Bench
	t        testing.TB
	kind     string
	e        *simcore.Engine
	root     rootbus.Bus
	dev      *rnicverbs.Device // of the server
	bus      []driver.Bus
	contexts []*provider.Context
	pd       verbs.PD
	mr       verbs.MR
	far      verbs.PD    // of the peer
	srq      []verbs.SRQ // by context
	cq       []verbs.CQ
	qp       []verbs.QP
	peer     []verbs.QP // connected with qp
	sent     verbs.CQ
	async    [][]verbs.AsyncEventType
}

// share makes n contexts with completion queues of so many entries share a receive queue of so many requests.
func share(t testing.TB, kind string, n, entries, requests int) *sharing {
	s := &sharing{t: t, kind: kind}
	b, devs := newBenchOn(t, func(e *simcore.Engine, b driver.Bus) driver.Bus {
		s.e, s.root = e, b.(rootbus.Bus) // the server is opened last
		s.bus = []driver.Bus{buses[kind](t, e, s.root)}
		return s.bus[0]
	})
	s.Bench, s.dev = b, devs[1]
	peer := b.Sides[0]
	peer.Context.AllocPD(func(x verbs.PD, err error) { s.must(err); s.far = x })
	peer.Context.CreateCQ(64, func(x verbs.CQ, err error) { s.must(err); s.sent = x })
	server, first := b.Sides[1], b.Sides[1].Context.(*provider.Context)
	first.AllocPD(func(x verbs.PD, err error) { s.must(err); s.pd = x })
	first.RegMR(s.pd, server.Base, server.Bytes, verbs.AccessLocalWrite,
		func(m verbs.MR, err error) { s.must(err); s.mr = m })
	first.CreateSRQ(s.pd, verbs.SRQAttr{MaxWR: requests, MaxSGE: 1},
		func(x verbs.SRQ, err error) { s.must(err); s.srq = append(s.srq, x) })
	s.must(s.Settle())
	s.add(first, entries)
	for range n - 1 {
		s.open(entries)
	}
	return s
}

// open adds a context that opens the queue of the first.
func (s *sharing) open(entries int) {
	bus := buses[s.kind](s.t, s.e, s.root)
	s.bus = append(s.bus, bus)
	c := s.contexts[0].On(bus)
	x, err := c.OpenSRQ(s.srq[0])
	s.must(err)
	s.srq = append(s.srq, x)
	s.add(c, entries)
}

// add gives a context a completion queue and a queue pair.
func (s *sharing) add(c *provider.Context, entries int) {
	i := len(s.contexts)
	s.contexts, s.async = append(s.contexts, c), append(s.async, nil)
	c.OnAsync(func(e verbs.AsyncEvent) { s.async[i] = append(s.async[i], e.Type) })
	c.CreateCQ(entries, func(x verbs.CQ, err error) { s.must(err); s.cq = append(s.cq, x) })
	s.must(s.Settle())
	s.connect(i)
}

func (s *sharing) must(err error) { s.t.Helper(); require.NoError(s.t, err) }

// connect connects a queue pair of the peer with one of a context that takes requests from the shared queue.
func (s *sharing) connect(i int) {
	peer, server := s.Sides[0], s.Sides[1]
	init := verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: s.sent, RecvCQ: s.sent,
		Cap: verbs.QPCap{MaxSendWR: 64, MaxSendSGE: 1, MaxInline: 32}}
	peer.Context.CreateQP(s.far, init, func(x verbs.QP, err error) { s.must(err); s.peer = append(s.peer, x) })
	s.contexts[i].CreateQP(s.pd, verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: s.cq[i], RecvCQ: s.cq[i], SRQ: s.srq[i]},
		func(x verbs.QP, err error) { s.must(err); s.qp = append(s.qp, x) })
	for _, x := range []struct {
		c    verbs.Context
		a    verbs.AHAttr
		q, p verbs.QP
	}{{peer.Context, peer.Peer, s.peer[i], s.qp[i]}, {s.contexts[i], server.Peer, s.qp[i], s.peer[i]}} {
		a := verbs.QPAttr{Port: 1, AH: x.a, PathMTU: verbs.MTU1024, DestQPN: x.p.Num(), MinRNRTimer: 1, Timeout: 10,
			RetryCnt: 7, RNRRetry: 7}
		from := verbs.QPSReset
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			mask, _, _ := verbs.Transition(verbs.QPTRC, from, to)
			a.State = to
			x.c.ModifyQP(x.q, a, mask|verbs.QPState, s.must)
			s.must(s.Settle())
			from = to
		}
	}
}

// spend keeps the core of a context busy.
func (s *sharing) spend(i, ns int) {
	if b, ok := s.bus[i].(*corebus.Bus); ok {
		b.Core().Spend(simcore.Ps(ns) * simcore.Nanosecond)
	}
}

// slotBytes is the length of the buffers of sharing.
const slotBytes = 64

// recvs returns receive requests with IDs from `from` on, each with the buffer of its ID.
func (s *sharing) recvs(from, n int) (list []verbs.RecvWR) {
	for i := from; i < from+n; i++ {
		list = append(list, verbs.RecvWR{ID: uint64(i), SGEs: []verbs.SGE{{
			Addr: s.Sides[1].Base + uint64(i)*slotBytes, Length: slotBytes, LKey: s.mr.LKey}}})
	}
	return list
}

// send sends message m from queue pair i of the peer.
func (s *sharing) send(i, m int) {
	s.t.Helper()
	b := fmt.Appendf(nil, "message %6d", m)
	_, err := s.peer[i].PostSend([]verbs.SendWR{{ID: uint64(m), Opcode: verbs.WRSend,
		Flags: verbs.SendSignaled | verbs.SendInline, Inline: b}})
	s.must(err)
}

// poll returns the completions of a queue.
func (s *sharing) poll(q verbs.CQ) []verbs.WC {
	s.t.Helper()
	wcs := make([]verbs.WC, 64)
	n, err := q.Poll(wcs)
	s.must(err)
	return wcs[:n]
}

// TestOpenSRQ has several contexts post to one shared receive queue at drawn times, while messages come for all of
// them: whoever posted a request, the next message takes it, and its context gets the completion. Nothing is lost, and
// the bytes are in the buffer of the request.
func TestOpenSRQ(t *testing.T) {
	for kind := range buses {
		t.Run(kind, func(t *testing.T) { rapid.Check(t, func(r *rapid.T) { checkSharing(t, r, kind) }) })
	}
}

func checkSharing(t *testing.T, r *rapid.T, kind string) {
	const contexts, requests = 3, 16
	s := share(t, kind, contexts, 64, requests)
	var want [contexts][]int // messages on their way to each context
	posted, sent, taken := 0, 0, map[uint64]bool{}
	takeAll := func() {
		for range s.poll(s.sent) {
		}
		for i, q := range s.cq {
			for _, wc := range s.poll(q) {
				require.Equal(r, verbs.WCSuccess, wc.Status)
				require.Equal(r, s.qp[i].Num(), wc.QPN)
				require.False(r, taken[wc.ID], "request %d twice", wc.ID)
				taken[wc.ID] = true
				b := make([]byte, wc.ByteLen)
				require.NoError(r, s.Sides[1].Memory.Read(s.Sides[1].Base+wc.ID*slotBytes, b))
				require.Equal(r, fmt.Sprintf("message %6d", want[i][0]), string(b))
				want[i] = want[i][1:]
			}
		}
	}
	for range rapid.IntRange(1, 40).Draw(r, "steps") {
		i := rapid.IntRange(0, contexts-1).Draw(r, "context")
		switch rapid.IntRange(0, 4).Draw(r, "step") {
		case 0:
			n := rapid.IntRange(1, 6).Draw(r, "requests")
			room := requests - (posted - len(taken))
			k, err := s.srq[i].PostRecv(s.recvs(posted, n))
			require.GreaterOrEqual(r, k, min(n, room))
			require.Equal(r, k < n, errors.Is(err, verbs.ENOMEM), "%v", err)
			posted += k
		case 1:
			if sent < posted {
				want[i] = append(want[i], sent)
				s.send(i, sent)
				sent++
			}
		case 2:
			ns := rapid.IntRange(1, 3000).Draw(r, "ns")
			s.must(s.e.RunUntil(s.e.Now() + simcore.Ps(ns)*simcore.Nanosecond))
			takeAll()
		case 3:
			s.must(s.Settle())
			takeAll()
			require.Len(r, taken, sent)
		case 4:
			s.spend(i, rapid.IntRange(1, 3000).Draw(r, "busy"))
		}
	}
	s.must(s.Settle())
	takeAll()
	require.Len(r, taken, sent, "all messages came")
	s.must(s.dev.Err())
}

// TestOpenedWhilePosting checks that requests which the first context posted without the lock, and which its core has
// yet to write, come before those of a context that opens the queue meanwhile.
func TestOpenedWhilePosting(t *testing.T) {
	s := share(t, "cores", 1, 64, 16)
	second := buses["cores"](t, s.e, s.root)
	s.must(s.Settle())
	loads := s.loads(0)
	_, err := s.srq[0].PostRecv(s.recvs(0, 1))
	s.must(err)
	s.must(s.Settle())
	require.Equal(t, loads, s.loads(0), "one context needs no lock")

	s.spend(0, 5000)
	_, err = s.srq[0].PostRecv(s.recvs(1, 3))
	s.must(err)
	opened, err := s.contexts[0].On(second).OpenSRQ(s.srq[0])
	s.must(err)
	_, err = opened.PostRecv(s.recvs(4, 4))
	s.must(err)
	for m := range 8 {
		s.send(0, m)
	}
	s.must(s.Settle())
	for i, wc := range s.poll(s.cq[0]) {
		require.EqualValues(t, i, wc.ID)
	}
	require.EqualValues(t, 1, second.(*corebus.Bus).Core().Stats().Loads, "of the lock's word")
	require.EqualValues(t, 4+2, second.(*corebus.Bus).Core().Stats().Stores, "entries, and the lock's word twice")
	require.NoError(t, s.dev.Err())
}

// loads returns the number of lines that the core of a context has loaded.
func (s *sharing) loads(i int) uint64 { return s.bus[i].(*corebus.Bus).Core().Stats().Loads }

// TestOpenSRQRefusals checks who may open, modify, close and destroy a shared receive queue, and when.
func TestOpenSRQRefusals(t *testing.T) {
	s := share(t, "cores", 2, 64, 16)
	first, second := s.contexts[0], s.contexts[1]
	for _, x := range []struct {
		c *provider.Context
		q verbs.SRQ
	}{{first, s.srq[0]}, {second, s.srq[1]}, {first, nil}, {s.Sides[0].Context.(*provider.Context), s.srq[0]}} {
		_, err := x.c.OpenSRQ(x.q)
		require.ErrorIs(t, err, verbs.EINVAL)
	}
	var err error
	result := func(x error) { err = x }
	settled := func() error { s.must(s.Settle()); return err }
	second.CreateQP(s.pd, verbs.QPInitAttr{Type: verbs.QPTRC, SendCQ: s.cq[1], RecvCQ: s.cq[1], SRQ: s.srq[0]},
		func(_ verbs.QP, x error) { err = x })
	require.ErrorIs(t, settled(), verbs.EINVAL, "a queue pair needs its own context's handle")
	second.ModifySRQ(s.srq[1], 1, result)
	require.ErrorIs(t, settled(), verbs.EINVAL)
	second.DestroySRQ(s.srq[1], result)
	require.ErrorIs(t, settled(), verbs.EBUSY, "its queue pair uses it")
	first.DestroyQP(s.qp[0], result)
	s.must(settled())
	second.DestroyQP(s.qp[1], result)
	s.must(settled())
	first.DestroySRQ(s.srq[0], result)
	require.ErrorIs(t, settled(), verbs.EBUSY, "the second context has it open")

	s.spend(1, 5000)
	_, err = s.srq[1].PostRecv(s.recvs(0, 4))
	s.must(err)
	second.DestroySRQ(s.srq[1], result)
	s.must(err)
	_, err = s.srq[1].PostRecv(s.recvs(4, 1))
	require.ErrorIs(t, err, verbs.EINVAL)
	second.DestroySRQ(s.srq[1], result)
	require.ErrorIs(t, err, verbs.EINVAL)
	first.DestroySRQ(s.srq[0], result)
	require.ErrorIs(t, settled(), verbs.EBUSY, "first come the requests of the second, which the NIC reads")
	first.DestroySRQ(s.srq[0], result)
	s.must(settled())
	_, err = second.OpenSRQ(s.srq[0])
	require.ErrorIs(t, err, verbs.EINVAL)
	require.NoError(t, s.dev.Err())
}

// TestSharedRoom checks that no context posts more requests than the smallest completion queue has room for.
func TestSharedRoom(t *testing.T) {
	s := share(t, "at once", 1, 64, 16)
	s.open(4) // 8 in memory
	n, err := s.srq[0].PostRecv(s.recvs(0, 10))
	require.ErrorIs(t, err, verbs.ENOMEM)
	require.Equal(t, 8, n)
	s.send(0, 0)
	s.must(s.Settle())
	n, err = s.srq[0].PostRecv(s.recvs(8, 2))
	require.ErrorIs(t, err, verbs.ENOMEM)
	require.Equal(t, 1, n, "the message of the other context made room")
}

// TestSharedEvents checks that the limit of a shared queue is reported to the context that set it, and the end of a
// queue pair's requests to that of the queue pair.
func TestSharedEvents(t *testing.T) {
	s := share(t, "cores", 2, 64, 16)
	_, err := s.srq[1].PostRecv(s.recvs(0, 3))
	s.must(err)
	s.contexts[0].ModifySRQ(s.srq[0], 3, s.must)
	s.must(s.Settle())
	require.Empty(t, s.async[0], "the command comes after the requests")
	s.send(1, 0)
	s.must(s.Settle())
	require.Equal(t, [][]verbs.AsyncEventType{{verbs.EventSRQLimit}, nil}, s.async)
	_, err = s.srq[0].PostRecv([]verbs.RecvWR{{ID: 9}}) // has no memory, but is not the next
	s.must(err)
	for m := range 3 {
		s.send(1, m)
	}
	s.must(s.Settle())
	require.Equal(t, [][]verbs.AsyncEventType{{verbs.EventSRQLimit}, {verbs.EventQPLastWQEReach}}, s.async)
}

// TestSharedPostingAllocatesNothing checks that posting under the lock allocates nothing in steady state.
func TestSharedPostingAllocatesNothing(t *testing.T) {
	s := share(t, "cores", 2, 64, 16)
	recvs, wcs, bad := s.recvs(0, 2), make([]verbs.WC, 8), false
	send := []verbs.SendWR{{Opcode: verbs.WRSend, Flags: verbs.SendSignaled}}
	round := func() {
		for i, q := range s.srq {
			_, err := q.PostRecv(recvs[i : i+1])
			bad = bad || err != nil
			_, err = s.peer[1-i].PostSend(send)
			bad = bad || err != nil
		}
		bad = bad || s.Settle() != nil
		for _, q := range []verbs.CQ{s.sent, s.cq[0], s.cq[1]} {
			n, err := q.Poll(wcs)
			bad = bad || err != nil || n < 1
		}
	}
	for range 200 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(50, round))
	require.False(t, bad)
}
