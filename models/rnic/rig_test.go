package rnic

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// slotted adapts the NIC to a board's slot.
type slotted struct{ *Comp }

func (s slotted) Period() simcore.Ps      { return s.period }
func (s slotted) EthBits() int            { return 512 }
func (s slotted) Begin(func() bool) error { return nil }
func (s slotted) Check() error            { return s.Err() }
func (s slotted) Cycles() int64           { return s.Cycle() }
func (s slotted) Close() error            { return nil }

// host is a card with the NIC, and software that takes no time.
type host struct {
	t     testing.TB
	rig   *rig
	nic   *Comp
	space memory
	roots []*root.Root
	mmio  *root.MMIO
	seq   uint16
	next  uint64 // offset of the next memory to be allocated
	qpn   uint32
}

// rig is a number of cards on one engine; two of them are connected back to back.
type rig struct {
	t      testing.TB
	e      *simcore.Engine // nil when the test runs on another engine
	any    engine
	pools  *board.Pools
	hosts  []*host
	digest uint32
	events uint64 // number of events that the NICs have scheduled
}

// engine is the event engine of a run: that of package simcore, or Akita's.
type engine interface {
	simcore.Scheduler
	Run() error
}

// counting is an engine that counts the events that NICs schedule.
type counting struct {
	*simcore.Engine
	r *rig
}

func (c counting) Schedule(e sim.Event) {
	c.r.events++
	c.Engine.Schedule(e)
}

func link(gbps int64) simcore.LinkSpec {
	const latency = 100 * simcore.Nanosecond
	s := simcore.LinkSpec{Latency: latency, Credits: 4096, CreditLatency: latency}
	if gbps > 0 {
		s.Rate = simcore.Gbps(gbps)
	}
	return s
}

func newEmptyRig(t testing.TB) *rig {
	e := simcore.NewEngine()
	return &rig{t: t, e: e, any: e, pools: new(board.Pools)}
}

// memory is the memory of both endpoints, as software and root access it.
type memory interface {
	mem.Target
	mem.Backdoor
	Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error)
}

// newRig makes n cards. The first two are connected by a cable, or by two with a leak between them.
func newRig(t testing.TB, n int, spec Spec, in ...*leak) *rig {
	r := newEmptyRig(t)
	for i := range n {
		s := board.CardSpec{Name: fmt.Sprintf("Card[%d]", i), Ports: spec.Ports, PCIe: link(256), Eth: link(200),
			Endpoint: board.DefaultEndpoint()}
		s.Endpoint.Limits, s.Endpoint.Ahead, s.Eth.OverheadBytes = spec.Limits[0], 0, 24
		var nic *Comp
		card, err := board.NewCard(r.e, r.pools, s, func(slot board.Slot) (board.NIC, error) {
			var err error
			nic, err = Builder{Scheduler: &counting{slot.Engine, r}, Spec: spec, Frames: slot.Frames,
				TLPs: slot.TLPs}.Build(slot.Name)
			return slotted{nic}, err
		})
		require.NoError(t, err)
		r.add(&host{nic: nic, space: card.Memory, roots: []*root.Root{card.Root}})
	}
	if len(in) == 0 {
		r.cable()
		return r
	}
	l := in[0]
	l.s, l.pool = r.e, &r.pools.Frames
	for i := range l.ports {
		l.ports[i] = simcore.NewPort(l, 4096, fmt.Sprintf("Leak.Port[%d]", i))
		require.NoError(t, board.Cable(fmt.Sprintf("Cable[%d]", i), r.e, link(0), r.hosts[i].nic.Eth(0), l.ports[i]))
	}
	return r
}

// cable connects the first two cards.
func (r *rig) cable() {
	if len(r.hosts) > 1 {
		_, err := simcore.Connect("Cable", r.any, link(0), r.hosts[0].nic.Eth(0), r.hosts[1].nic.Eth(0))
		require.NoError(r.t, err)
	}
}

// add adds a card to the rig.
func (r *rig) add(h *host) {
	h.t, h.rig, h.next, h.mmio = r.t, r, 0x10000, h.roots[0].MMIO(nicspec.RequesterArm)
	h.nic.Observe(r.observe)
	i := len(r.hosts)
	r.hosts = append(r.hosts, h)
	h.do(&rnicspec.SetPort{MAC: mac(i), IP: [16]byte{10, 0, 0, byte(i)}})
}

func mac(i int) [6]byte { return [6]byte{2, 0, 0, 0, 0, byte(i)} }

// observe updates the digest of the crossings of all NICs.
func (r *rig) observe(x boundary.Crossing) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(x.Last))
	b[8] = byte(x.Kind)
	r.digest = crc32.Update(r.digest, crc32.IEEETable, b[:])
	if x.Frame != nil {
		r.digest = crc32.Update(r.digest, crc32.IEEETable, x.Frame.Data)
		return
	}
	r.digest = crc32.Update(r.digest, crc32.IEEETable, x.TLP.Hdr[:])
	r.digest = crc32.Update(r.digest, crc32.IEEETable, x.TLP.Data)
}

func (r *rig) run() {
	require.NoError(r.t, r.any.Run())
	for _, h := range r.hosts {
		require.NoError(r.t, h.nic.Err())
		for _, x := range h.roots {
			require.NoError(r.t, x.Err())
		}
	}
}

func (h *host) do(cmd rnicspec.Command) uint32 {
	var b [rnicspec.CmdBytes]byte
	h.seq++
	rnicspec.EncodeCommand(cmd, h.seq, b[:])
	require.NoError(h.t, h.mmio.Write(rnicspec.RegCommand, b[:]))
	var got rnicspec.Result
	require.NoError(h.t, h.mmio.Read(rnicspec.RegResult, 8, func(v uint64, err error) {
		require.NoError(h.t, err)
		got = rnicspec.ResultOf(v)
	}))
	require.NoError(h.t, h.rig.any.Run())
	require.Equal(h.t, h.seq, got.Seq)
	require.Equal(h.t, rnicspec.Done, rnicspec.Refusal(got.Code), "%T", cmd)
	return got.Value
}

// alloc allocates memory of an endpoint. Addresses of a card are never reused.
func (h *host) alloc(ep int, n uint64) uint64 {
	at := mem.Bus(ep, h.next)
	h.next += (n + 0xfff) &^ 0xfff
	return at
}

func (h *host) bytes(at uint64, n int) []byte {
	b := make([]byte, n)
	require.NoError(h.t, h.space.Read(at, b))
	return b
}

func (h *host) fill(at uint64, n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i*7+i>>8)
	}
	require.NoError(h.t, h.space.Write(at, b))
	return b
}

// region registers all memory of an endpoint as one region, whose virtual addresses are bus
// addresses and whose key is ep + 1.
func (h *host) region(ep int) {
	h.do(&rnicspec.CreateMR{Key: uint32(ep + 1), Access: rnicspec.AllAccess, PageLog: 21, VA: mem.Bus(ep, 0),
		Bus: mem.Bus(ep, 0), Bytes: 1 << 30})
}

// testQP is a queue pair with the software's side of its rings.
type testQP struct {
	h          *host
	n          uint32
	typ        rnicspec.QPType
	send, recv uint64
	pi, ri     uint16
	cqAddr     uint64
	ci         uint32
	wqe        [rnicspec.WQEBytes]byte
	cqe        [rnicspec.CQEBytes]byte
}

const ringLog = 6

// qp makes a queue pair whose rings lie in an endpoint's memory; one completion queue serves its send
// and its receive side.
func (h *host) qp(typ rnicspec.QPType, ep int) *testQP {
	h.qpn++
	q := &testQP{h: h, n: h.qpn, typ: typ, send: h.alloc(ep, rnicspec.WQEBytes<<ringLog),
		recv: h.alloc(ep, rnicspec.RecvBytes<<ringLog)}
	q.cqAddr = h.alloc(ep, rnicspec.CQEBytes<<ringLog)
	h.do(&rnicspec.CreateCQ{CQN: q.n, Log: ringLog, Addr: q.cqAddr})
	h.do(&rnicspec.CreateQP{QPN: q.n, Type: typ, SendLog: ringLog, RecvLog: ringLog, SendCQ: q.n, RecvCQ: q.n,
		SendAddr: q.send, RecvAddr: q.recv, QKey: 0x11})
	return q
}

// connect moves two queue pairs to RTS, with each other as peers.
func connect(a, b *testQP, pmtu uint16) {
	for _, x := range [2][2]*testQP{{a, b}, {b, a}} {
		q, peer := x[0], x[1]
		to := 0
		for i, h := range q.h.rig.hosts {
			if h == peer.h {
				to = i
			}
		}
		handle := 1000 + q.n
		q.h.do(&rnicspec.CreateAH{Handle: handle, MAC: mac(to), IP: [16]byte{10, 0, 0, byte(to)}, UDPPort: 0xc000,
			TTL: 64})
		q.h.do(&rnicspec.ModifyQP{
			QPN: q.n, State: rnicspec.RTS, DestQP: peer.n, SendPSN: 100 * q.n, RecvPSN: 100 * peer.n, Handle: handle,
			PMTU:   pmtu,
			Access: rnicspec.AllAccess, MaxRead: 16, MinRNR: 1, Retries: 7, RNRRetry: 7, Timeout: 8,
		})
	}
}

// put writes a work entry to the ring.
func (q *testQP) put(w rnicspec.WQE) {
	w.Encode(q.typ, q.wqe[:])
	at := q.send + uint64(q.pi&(1<<ringLog-1))*rnicspec.WQEBytes
	require.NoError(q.h.t, q.h.space.Write(at, q.wqe[:]))
	q.pi++
}

func (q *testQP) ring() {
	require.NoError(q.h.t, q.h.mmio.Write32(rnicspec.QPPage(q.n)+rnicspec.PageSend, uint32(q.pi)))
}

func (q *testQP) post(w rnicspec.WQE) {
	q.put(w)
	q.ring()
}

// push posts a work entry by MMIO.
func (q *testQP) push(w rnicspec.WQE) {
	q.put(w)
	require.NoError(q.h.t, q.h.mmio.Write(rnicspec.QPPage(q.n)+rnicspec.PagePush, q.wqe[:]))
}

func (q *testQP) postRecv(w rnicspec.RecvWQE) {
	w.Encode(q.wqe[:])
	at := q.recv + uint64(q.ri&(1<<ringLog-1))*rnicspec.RecvBytes
	require.NoError(q.h.t, q.h.space.Write(at, q.wqe[:rnicspec.RecvBytes]))
	q.ri++
	require.NoError(q.h.t, q.h.mmio.Write32(rnicspec.QPPage(q.n)+rnicspec.PageRecv, uint32(q.ri)))
}

// poll returns the completion entries that the NIC has written since the last call.
func (q *testQP) poll() []rnicspec.CQE {
	var got []rnicspec.CQE
	for {
		require.NoError(q.h.t, q.h.space.Read(q.cqAddr+uint64(q.ci&(1<<ringLog-1))*rnicspec.CQEBytes, q.cqe[:]))
		var c rnicspec.CQE
		c.Decode(q.cqe[:])
		if c.Phase != (q.ci>>ringLog&1 == 0) {
			return got
		}
		q.ci++
		got = append(got, c)
	}
}

// testSpec returns a spec with equal limits at both endpoints, since one root answers for both.
func testSpec() Spec {
	s := DefaultSpec()
	s.Limits[0] = s.Limits[1]
	return s
}

const sig = rnicspec.FlagSignalled
