package rnic

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// testSRQ is a shared receive queue with the software's side of its ring.
type testSRQ struct {
	h      *host
	n      uint32
	ring   uint64
	pi     uint16
	events testQP // its completion queue has the events
}

func (h *host) srq(n uint32) *testSRQ {
	s := &testSRQ{h: h, n: n, ring: h.alloc(1, rnicspec.RecvBytes<<ringLog)}
	s.events = testQP{h: h, cqAddr: h.alloc(1, rnicspec.CQEBytes<<ringLog)}
	h.do(&rnicspec.CreateCQ{CQN: 500 + n, Log: ringLog, Addr: s.events.cqAddr})
	h.do(&rnicspec.CreateSRQ{SRQN: n, Log: ringLog, Addr: s.ring, Events: 500 + n})
	return s
}

// post posts receive entries, with one doorbell for all of them.
func (s *testSRQ) post(entries ...rnicspec.RecvWQE) {
	var b [rnicspec.RecvBytes]byte
	for _, w := range entries {
		w.Encode(b[:])
		require.NoError(s.h.t, s.h.space.Write(s.ring+uint64(s.pi&(1<<ringLog-1))*rnicspec.RecvBytes, b[:]))
		s.pi++
	}
	require.NoError(s.h.t, s.h.mmio.Write32(rnicspec.SRQDoorbell(s.n), uint32(s.pi)))
}

// TestSharedReadsAhead checks that a shared receive queue, which serves many queue pairs, has as many entries as its
// NIC holds in flight or in the NIC, and no more, in reads as long as they may be, though entries come one by one.
func TestSharedReadsAhead(t *testing.T) {
	const full = 4
	spec := testSpec()
	spec.Prefetch = full * spec.Fetch
	r := newRig(t, 1, spec)
	s := r.hosts[0].srq(1)
	r.run()
	ring, most := &r.hosts[0].nic.srqs[1].ring, 0
	watch := func() {
		for range 2000 {
			require.NoError(t, r.e.RunUntil(r.e.Now()+simcore.Nanosecond))
			most = max(most, ring.fetches.Len())
		}
	}
	s.post(make([]rnicspec.RecvWQE, full*spec.Fetch)...)
	watch()
	require.Equal(t, full, most, "reads in flight")
	require.Zero(t, ring.ahead(), "left in memory")

	s = r.hosts[0].srq(2)
	r.run()
	ring, most = &r.hosts[0].nic.srqs[2].ring, 0
	for range 6 * spec.Fetch {
		s.post(rnicspec.RecvWQE{})
	}
	watch()
	require.Equal(t, full, most, "reads in flight")
	require.Equal(t, 2*spec.Fetch, ring.ahead(), "left in memory")
}

// sharing makes a queue pair that takes its receive entries from the shared queue.
func (s *testSRQ) sharing(typ rnicspec.QPType) *testQP {
	h := s.h
	h.qpn++
	q := &testQP{h: h, n: h.qpn, typ: typ, send: h.alloc(1, rnicspec.WQEBytes<<ringLog),
		cqAddr: h.alloc(1, rnicspec.CQEBytes<<ringLog)}
	h.do(&rnicspec.CreateCQ{CQN: q.n, Log: ringLog, Addr: q.cqAddr})
	h.do(&rnicspec.CreateQP{QPN: q.n, Type: typ, SendLog: ringLog, SendCQ: q.n, RecvCQ: q.n, SendAddr: q.send,
		SRQ: s.n})
	return q
}

// refused carries out a command that the NIC must refuse.
func (h *host) refused(why rnicspec.Refusal, cmd rnicspec.Command) {
	h.t.Helper()
	var b [rnicspec.CmdBytes]byte
	h.seq++
	rnicspec.EncodeCommand(cmd, h.seq, b[:])
	require.NoError(h.t, h.mmio.Write(rnicspec.RegCommand, b[:]))
	require.NoError(h.t, h.mmio.Read(rnicspec.RegResult, 8, func(v uint64, err error) {
		require.NoError(h.t, err)
		require.Equal(h.t, why, rnicspec.Refusal(rnicspec.ResultOf(v).Code), "%T %+v", cmd, cmd)
	}))
	h.rig.run()
}

const (
	bufferBytes = 4096
	numBuffers  = 24
)

// sharedRig is a number of connections to queue pairs that share a receive queue.
type sharedRig struct {
	*rig
	srq      *testSRQ
	from, to []*testQP
	source   uint64
	buffers  uint64
}

func newSharedRig(t *testing.T, spec Spec, pairs int) *sharedRig {
	x := &sharedRig{rig: newRig(t, 2, spec)}
	for _, h := range x.hosts {
		h.region(1)
	}
	x.srq = x.hosts[1].srq(3)
	x.source, x.buffers = x.hosts[0].alloc(1, 4*128*bufferBytes), x.hosts[1].alloc(1, numBuffers*bufferBytes)
	for range pairs {
		a, b := x.hosts[0].qp(rnicspec.RC, 1), x.srq.sharing(rnicspec.RC)
		connect(a, b, 1024)
		x.from, x.to = append(x.from, a), append(x.to, b)
	}
	return x
}

func (x *sharedRig) entry(id uint64) rnicspec.RecvWQE {
	return rnicspec.RecvWQE{ID: id, VA: x.buffers + id*bufferBytes, Length: bufferBytes, Key: 2}
}

// Messages of several queue pairs, some of them WRITEs with immediate data, arrive once each and in order on their own
// queue pair, in buffers that no other message has, however late buffers are posted: a receiver without buffers
// sends RNR NAKs.
func TestSharedReceives(t *testing.T) {
	naks := uint64(0)
	for seed := range uint64(12) {
		spec := testSpec()
		spec.Prefetch, spec.Fetch = 1+int(seed%5), 1+int(seed%4)
		x := newSharedRig(t, spec, 4)
		x.play(rand.New(rand.NewPCG(seed, 9)), 120)
		naks += x.hosts[1].nic.Counter(rnicspec.CntRNR)
		for _, q := range x.to {
			x.hosts[1].do(&rnicspec.DestroyQP{QPN: q.n}) // nothing of it is in flight
		}
		x.hosts[1].do(&rnicspec.DestroySRQ{SRQN: 3})
	}
	require.NotZero(t, naks, "there were always buffers")
}

// play sends `total` messages over random queue pairs while buffers are posted now and then.
func (x *sharedRig) play(rng *rand.Rand, total int) {
	var free []uint64
	for id := range uint64(numBuffers) {
		free = append(free, id)
	}
	sent, got, inUse := make([]int, len(x.from)), make([]int, len(x.from)), map[uint64]bool{}
	for messages, arrived := 0, 0; arrived < total; {
		for range rng.IntN(4) {
			if k := rng.IntN(len(x.from)); messages < total && sent[k]-got[k] < 1<<ringLog/2 {
				x.send(k, sent[k], rng)
				sent[k]++
				messages++
			}
		}
		var batch []rnicspec.RecvWQE
		for n := rng.IntN(4); n > 0 && len(free) > 0; n-- {
			at := rng.IntN(len(free))
			batch = append(batch, x.entry(free[at]))
			inUse[free[at]] = true
			free = append(free[:at], free[at+1:]...)
		}
		x.srq.post(batch...)
		// requesters retry for ever while there are no buffers
		require.NoError(x.t, x.e.RunUntil(x.e.Now()+5*simcore.Microsecond))
		for k, q := range x.to {
			for _, c := range q.poll() {
				require.True(x.t, inUse[c.ID], "buffer %d", c.ID)
				delete(inUse, c.ID)
				free = append(free, c.ID)
				x.check(k, got[k], &c)
				got[k]++
				arrived++
			}
			x.from[k].poll()
		}
	}
}

// send posts message n of connection k: a SEND that names both, or a WRITE of no bytes with them as immediate data.
func (x *sharedRig) send(k, n int, rng *rand.Rand) {
	q, imm := x.from[k], uint32(k<<16|n)
	if rng.IntN(3) == 0 {
		q.post(rnicspec.WQE{Opcode: rnicspec.WriteImm, Flags: sig, Imm: imm, LocalKey: 2, RemoteKey: 2})
		return
	}
	size, at := 4+rng.IntN(bufferBytes-4), x.source+uint64(k*128+n)*bufferBytes
	binary.LittleEndian.PutUint32(q.wqe[:], imm)
	q.h.fill(at, size, byte(n))
	require.NoError(x.t, q.h.space.Write(at, q.wqe[:4]))
	q.post(rnicspec.WQE{Opcode: rnicspec.SendImm, Flags: sig, Imm: imm, Length: uint32(size), LocalVA: at, LocalKey: 2})
}

func (x *sharedRig) check(k, n int, c *rnicspec.CQE) {
	require.Equal(x.t, rnicspec.OK, c.Status)
	require.Equal(x.t, uint32(k<<16|n), c.Imm, "message %d of connection %d", n, k)
	require.Equal(x.t, x.to[k].n, c.QPN)
	if c.Opcode == rnicspec.Recv {
		b := x.hosts[1].bytes(x.buffers+c.ID*bufferBytes, int(c.Bytes))
		require.Equal(x.t, c.Imm, binary.LittleEndian.Uint32(b))
		for i := 4; i < len(b); i++ {
			require.Equal(x.t, byte(n)+byte(i*7+i>>8), b[i], "byte %d", i)
		}
	}
}

// The limit raises one event per request, at once if fewer entries are left already (IBTA 10.2.9.3).
func TestSharedLimit(t *testing.T) {
	x := newSharedRig(t, testSpec(), 2)
	h := x.hosts[1]
	for id := range uint64(6) {
		x.srq.post(x.entry(id))
	}
	h.do(&rnicspec.ModifySRQ{SRQN: 3, Limit: 4})
	for i := range 4 {
		x.from[i%2].post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig})
		x.run()
		events := x.srq.events.poll()
		require.Len(t, events, map[bool]int{true: 1}[i == 2], "after %d", i+1)
		if i == 2 {
			require.Equal(t, rnicspec.EventSRQLimit, events[0].Opcode)
			require.EqualValues(t, 3, events[0].ID)
		}
	}
	h.do(&rnicspec.ModifySRQ{SRQN: 3, Limit: 3})
	require.Len(t, x.srq.events.poll(), 1, "two are left")
	require.EqualValues(t, 2, h.nic.Levels().Receives)
}

// A queue pair that fails flushes the entry that it uses, leaves the others to its neighbours, and reports that it
// takes no more.
func TestSharedFailure(t *testing.T) {
	x := newSharedRig(t, testSpec(), 2)
	x.srq.post(x.entry(0), rnicspec.RecvWQE{ID: 1, VA: x.buffers, Length: 8, Key: 2}, x.entry(2))
	x.from[0].post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 64, LocalVA: x.source, LocalKey: 2})
	x.run()
	x.from[0].post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 64, LocalVA: x.source, LocalKey: 2})
	x.run()
	got := x.to[0].poll()
	require.Equal(t, []rnicspec.Status{rnicspec.OK, rnicspec.LocalLength},
		[]rnicspec.Status{got[0].Status, got[1].Status})
	events := x.srq.events.poll()
	require.Len(t, events, 1)
	require.Equal(t, rnicspec.EventLastWQE, events[0].Opcode)
	require.Equal(t, x.to[0].n, events[0].QPN)
	x.from[1].post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 64, LocalVA: x.source, LocalKey: 2})
	x.run()
	require.EqualValues(t, 2, x.to[1].poll()[0].ID, "the entry stayed in the queue")
}

// Entries that cannot be read fail the queue pairs that need them, with the status of IBTA 9.9.3 at the peer.
func TestSharedUnreadable(t *testing.T) {
	x := newSharedRig(t, testSpec(), 1)
	h := x.hosts[1]
	events := uint32(503)
	h.do(&rnicspec.CreateSRQ{SRQN: 9, Log: ringLog, Addr: 1<<50 + 1<<40, Events: events})
	bad := &testSRQ{h: h, n: 9}
	a, b := x.hosts[0].qp(rnicspec.RC, 1), bad.sharing(rnicspec.RC)
	connect(a, b, 1024)
	require.NoError(t, h.mmio.Write32(rnicspec.SRQDoorbell(9), 1))
	require.NoError(t, x.any.Run())
	a.post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig})
	require.NoError(t, x.any.Run())
	require.Equal(t, rnicspec.RemoteOperation, a.poll()[0].Status)
}

// A queue pair with a shared receive queue has no receive ring: a doorbell of it reads nothing.
func TestSharedHasNoRing(t *testing.T) {
	x := newSharedRig(t, testSpec(), 1)
	h := x.hosts[1]
	require.NoError(t, h.mmio.Write32(rnicspec.QPPage(x.to[0].n)+rnicspec.PageRecv, 1))
	x.run()
	require.EqualValues(t, 1, h.nic.Counter(rnicspec.CntWrongAccess))
	x.from[0].post(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 8, LocalVA: x.source, LocalKey: 2,
		RemoteKey: 9})
	x.run()
	require.Empty(t, x.to[0].poll(), "nothing to flush")
}

// Commands about shared receive queues are refused by reason.
func TestSharedRefused(t *testing.T) {
	x := newSharedRig(t, testSpec(), 1)
	h := x.hosts[1]
	qp := func(typ rnicspec.QPType, srq uint32) *rnicspec.CreateQP {
		n := x.to[0].n
		return &rnicspec.CreateQP{QPN: 99, Type: typ, SendCQ: n, RecvCQ: n, SRQ: srq}
	}
	h.refused(rnicspec.RefusedNumber, &rnicspec.CreateSRQ{SRQN: 0, Events: 503})
	h.refused(rnicspec.RefusedNumber, &rnicspec.CreateSRQ{SRQN: rnicspec.MaxSRQs, Events: 503})
	h.refused(rnicspec.RefusedNumber, &rnicspec.CreateSRQ{SRQN: 3, Events: 503})
	h.refused(rnicspec.RefusedNumber, &rnicspec.CreateSRQ{SRQN: 4, Events: 999})
	h.refused(rnicspec.RefusedValue, &rnicspec.CreateSRQ{SRQN: 4, Log: 16, Events: 503})
	h.refused(rnicspec.RefusedValue, &rnicspec.CreateSRQ{SRQN: 4, Addr: 8, Events: 503})
	h.refused(rnicspec.RefusedNumber, &rnicspec.ModifySRQ{SRQN: 4})
	h.refused(rnicspec.RefusedValue, &rnicspec.ModifySRQ{SRQN: 3, Limit: 65})
	h.refused(rnicspec.RefusedNumber, &rnicspec.DestroySRQ{SRQN: 4})
	h.refused(rnicspec.RefusedState, &rnicspec.DestroySRQ{SRQN: 3})
	h.refused(rnicspec.RefusedNumber, qp(rnicspec.RC, 4))
	h.refused(rnicspec.RefusedNumber, qp(rnicspec.Raw, 3))
	h.do(&rnicspec.DestroyQP{QPN: x.to[0].n})
	h.do(&rnicspec.DestroySRQ{SRQN: 3})
	require.NoError(t, h.mmio.Write32(rnicspec.SRQDoorbell(3), 1))
	x.run()
	require.EqualValues(t, 1, h.nic.Counter(rnicspec.CntWrongAccess))
}
