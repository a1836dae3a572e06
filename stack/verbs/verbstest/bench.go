package verbstest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// Memory accesses the memory that applications see, in zero simulated time.
type Memory interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// Side is one end of a path between two ports: a device as an application sees it.
type Side struct {
	Context verbs.Context
	Memory  Memory
	Base    uint64       // start of the memory (Bytes long) that may be registered; nobody else uses it
	Bytes   uint64       // at least 1 MB
	Port    uint8        // port of the path to the other side
	Peer    verbs.AHAttr // path to the other side's port
}

// Bench is two sides, and a function that runs until nothing is in flight.
type Bench struct {
	Sides  [2]Side
	Settle func() error
}

// minBytes is the memory that the checks need on a side.
const minBytes = 1 << 20

// RunContract runs every check, each on its own bench; build makes one.
func RunContract(t *testing.T, name string, build func(t *testing.T) *Bench) {
	for _, c := range checks {
		t.Run(name+"/"+c.name, func(t *testing.T) { check(t, c.run, build(t)) })
	}
}

var checks = []struct {
	name string
	run  func(*bench)
}{
	{"query", query}, {"lifetimes", lifetimes}, {"states", states}, {"attributes", attributes},
	{"late_rights", lateRights}, {"operations", operations},
	{"lists", lists}, {"inline", inline}, {"unsignalled", unsignalled}, {"full", full}, {"refused", refused},
	{"fence", fence},
	{"order", order}, {"flush", flush}, {"to_error", toError}, {"local_keys", localKeys}, {"remote_keys", remoteKeys},
	{"receives", receives}, {"not_ready", notReady}, {"datagrams", datagrams}, {"frames", frames}, {"overrun", overrun},
	{"notify", notify}, {"shared_receive", sharedReceive}, {"lost_peer", lostPeer}, {"low_latency", lowLatency},
	{"solar", solar},
}

// check runs one check on a fresh bench.
func check(t tester, run func(*bench), under *Bench) {
	b := &bench{tester: t, Bench: under}
	for i := range b.side {
		b.side[i].prepare(b, &b.Sides[i])
	}
	run(b)
}

// tester is the part of testing.T that checks need.
type tester interface {
	require.TestingT
	Helper()
}

// bench is a Bench under test.
type bench struct {
	tester
	*Bench
	side [2]side
}

// side is a Side with the objects that every check needs.
type side struct {
	*Side
	b    *bench
	attr verbs.DeviceAttr
	pd   verbs.PD
	mr   verbs.MR // covers the whole memory, with all rights
	next uint64   // start of the memory that the check has not used yet
}

const allAccess = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic

func (s *side) prepare(b *bench, under *Side) {
	s.Side, s.b, s.next = under, b, under.Base
	require.GreaterOrEqual(b, under.Bytes, uint64(minBytes), "memory of a side")
	s.Context.QueryDevice(func(a verbs.DeviceAttr, err error) {
		require.NoError(b, err)
		s.attr = a
	})
	s.pd = s.allocPD()
	s.mr = s.register(s.pd, s.Base, s.Bytes, allAccess)
}

func (b *bench) settle() {
	b.Helper()
	require.NoError(b, b.Settle())
}

// wait runs a control verb to its end.
func (b *bench) wait(verb func(done func(error))) error {
	b.Helper()
	ends, got := 0, error(nil)
	verb(func(err error) { ends++; got = err })
	b.settle()
	require.Equal(b, 1, ends, "a control verb ends once")
	return got
}

// get runs a control verb that creates something, and returns that.
func get[T any](b *bench, verb func(done func(T, error))) (x T, err error) {
	b.Helper()
	err = b.wait(func(done func(error)) {
		verb(func(v T, err error) {
			x = v
			done(err)
		})
	})
	return x, err
}

func (s *side) allocPD() verbs.PD {
	s.b.Helper()
	pd, err := get(s.b, s.Context.AllocPD)
	require.NoError(s.b, err)
	return pd
}

func (s *side) register(pd verbs.PD, addr, n uint64, a verbs.Access) verbs.MR {
	s.b.Helper()
	m, err := get(s.b, func(done func(verbs.MR, error)) { s.Context.RegMR(pd, addr, n, a, done) })
	require.NoError(s.b, err)
	require.Equal(s.b, verbs.MR{PD: pd, Addr: addr, Length: n, Access: a, LKey: m.LKey, RKey: m.RKey}, m)
	return m
}

func (s *side) cq(entries int) verbs.CQ {
	s.b.Helper()
	cq, err := get(s.b, func(done func(verbs.CQ, error)) { s.Context.CreateCQ(entries, done) })
	require.NoError(s.b, err)
	require.GreaterOrEqual(s.b, cq.Entries(), entries)
	return cq
}

// end is a queue pair with its completion queues.
type end struct {
	*side
	qp         verbs.QP
	send, recv verbs.CQ
	cap        verbs.QPCap
}

// Queue sizes for checks: small, so that they fill up, and powers of two, which every device can grant exactly.
const (
	depth   = 16
	entries = 64
)

// end creates a queue pair with completion queues of its own; change, if set, modifies the attributes.
func (s *side) end(typ verbs.QPType, change func(*verbs.QPInitAttr)) *end {
	s.b.Helper()
	e := &end{side: s, send: s.cq(entries), recv: s.cq(entries)}
	a := verbs.QPInitAttr{Type: typ, SendCQ: e.send, RecvCQ: e.recv, Cap: verbs.QPCap{
		MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: min(4, s.attr.MaxSGE), MaxRecvSGE: min(4, s.attr.MaxSGE),
		MaxInline: min(32, s.attr.MaxInline),
	}}
	if change != nil {
		change(&a)
		e.send, e.recv = a.SendCQ, a.RecvCQ
	}
	var err error
	e.qp, err = get(s.b, func(done func(verbs.QP, error)) { s.Context.CreateQP(s.pd, a, done) })
	require.NoError(s.b, err)
	_, init, err := e.query()
	require.NoError(s.b, err)
	e.cap = init.Cap
	return e
}

func (e *end) query() (a verbs.QPAttr, init verbs.QPInitAttr, err error) {
	e.b.Helper()
	err = e.b.wait(func(done func(error)) {
		e.Context.QueryQP(e.qp, func(x verbs.QPAttr, y verbs.QPInitAttr, err error) {
			a, init = x, y
			done(err)
		})
	})
	return a, init, err
}

func (e *end) state() verbs.State {
	e.b.Helper()
	a, _, err := e.query()
	require.NoError(e.b, err)
	return a.State
}

func (e *end) modify(a verbs.QPAttr, mask verbs.AttrMask) error {
	e.b.Helper()
	return e.b.wait(func(done func(error)) { e.Context.ModifyQP(e.qp, a, mask, done) })
}

// qkey is the Q_Key of all datagram queue pairs here. firstPSN is the first PSN of both directions, close to the wrap
// at 24 bits.
const (
	qkey     = 0x11223344
	firstPSN = 1<<24 - 3
)

// path returns the attributes that connect an end to its peer.
func (e *end) path(peer *end) verbs.QPAttr {
	return verbs.QPAttr{
		Port: e.Port, Access: allAccess, QKey: qkey, AH: e.Peer, PathMTU: verbs.MTU1024, DestQPN: peer.qp.Num(),
		RQPSN: firstPSN, SQPSN: firstPSN,
		MaxRdAtomic: 4, MaxDestRdAtomic: 4, MinRNRTimer: 1, Timeout: 8, RetryCnt: 2, RNRRetry: 2,
	}
}

// moveTo takes a queue pair from RESET to a state, by way of the states before it.
func (e *end) moveTo(typ verbs.QPType, a verbs.QPAttr, to verbs.State) {
	e.b.Helper()
	from := verbs.QPSReset
	for _, s := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
		if s > to {
			return
		}
		mask, _, ok := verbs.Transition(typ, from, s)
		require.True(e.b, ok)
		a.State = s
		require.NoError(e.b, e.modify(a, mask|verbs.QPState))
		from = s
	}
}

// pair connects two queue pairs of a type, one on each side. changes modify the attributes.
func (b *bench) pair(typ verbs.QPType, changes ...func(*verbs.QPAttr)) [2]*end {
	b.Helper()
	x := [2]*end{b.side[0].end(typ, nil), b.side[1].end(typ, nil)}
	for i, e := range x {
		a := e.path(x[1-i])
		for _, f := range changes {
			f(&a)
		}
		e.moveTo(typ, a, verbs.QPSRTS)
	}
	return x
}

// buffer is registered memory with a guard byte on either side.
type buffer struct {
	s    *side
	addr uint64
	n    int
}

const guard = 0xa5

// buffer allocates n bytes of a side's memory that hold a pattern.
func (s *side) buffer(n int, seed byte) buffer {
	s.b.Helper()
	const align = 64
	x := buffer{s, s.next + align, n}
	s.next += uint64(n+3*align-1) &^ (align - 1)
	require.LessOrEqual(s.b, s.next, s.Base+s.Bytes, "memory that the checks use")
	guarded := slices.Repeat([]byte{guard}, n+2)
	copy(guarded[1:], pattern(n, seed))
	require.NoError(s.b, s.Memory.Write(x.addr-1, guarded))
	return x
}

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed + byte(i*7+i>>8)
	}
	return b
}

// holds checks the bytes of a buffer, and that its guard bytes are unchanged.
func (x buffer) holds(want []byte) {
	x.s.b.Helper()
	got := make([]byte, x.n+2)
	require.NoError(x.s.b, x.s.Memory.Read(x.addr-1, got))
	require.Equal(x.s.b, []byte{guard, guard}, []byte{got[0], got[x.n+1]}, "bytes around a buffer")
	require.True(x.s.b, bytes.Equal(want, got[1:][:len(want)]), "bytes in memory: want %x…, they are %x…", head(want),
		head(got[1:]))
}

func head(b []byte) []byte { return b[:min(len(b), 24)] }

func (x buffer) sge() verbs.SGE {
	return verbs.SGE{Addr: x.addr, Length: uint32(x.n), LKey: x.s.mr.LKey}
}

// sges returns the whole buffer as one piece, or none if it is empty.
func (x buffer) sges() []verbs.SGE {
	if x.n == 0 {
		return nil
	}
	return []verbs.SGE{x.sge()}
}

func (e *end) post(wrs ...verbs.SendWR) {
	e.b.Helper()
	n, err := e.qp.PostSend(wrs)
	require.NoError(e.b, err)
	require.Equal(e.b, len(wrs), n)
}

func (e *end) postRecv(wrs ...verbs.RecvWR) {
	e.b.Helper()
	n, err := e.qp.PostRecv(wrs)
	require.NoError(e.b, err)
	require.Equal(e.b, len(wrs), n)
}

// drain takes all completions of a queue.
func (b *bench) drain(cq verbs.CQ) (all []verbs.WC) {
	b.Helper()
	var wcs [3]verbs.WC
	for range 1 << 12 {
		n, err := cq.Poll(wcs[:])
		require.NoError(b, err)
		if n == 0 {
			return all
		}
		all = append(all, wcs[:n]...)
	}
	require.Fail(b, "a completion queue that does not end")
	return nil
}

// ended is the part of a completion that checks compare.
type ended struct {
	id uint64
	st verbs.Status
}

// statuses returns the completions of a queue, once nothing is in flight.
func (b *bench) statuses(cq verbs.CQ) (got []ended) {
	b.Helper()
	b.settle()
	for _, wc := range b.drain(cq) {
		got = append(got, ended{wc.ID, wc.Status})
	}
	return got
}

// only returns the completion of a queue that must have exactly one.
func (b *bench) only(cq verbs.CQ) verbs.WC {
	b.Helper()
	b.settle()
	all := b.drain(cq)
	require.Len(b, all, 1)
	return all[0]
}

// lacks reports whether both sides lack a feature. If only one does, the check fails.
func (b *bench) lacks(f verbs.Feature) bool {
	b.Helper()
	a := &b.side[0].attr
	require.Equal(b, a.Has(f), b.side[1].attr.Has(f), "both sides have the same features")
	return !a.Has(f)
}

func (b *bench) has(typ verbs.QPType) bool { return slices.Contains(b.side[0].attr.Types, typ) }

// refusesAt checks that posting stops at request n with an error number.
func (e *end) refusesAt(n int, want verbs.Errno, wrs ...verbs.SendWR) {
	e.b.Helper()
	got, err := e.qp.PostSend(wrs)
	require.ErrorIs(e.b, err, want)
	require.Equal(e.b, n, got, "the position of the bad request")
}

func (e *end) badRecv(n int, want verbs.Errno, wrs ...verbs.RecvWR) {
	e.b.Helper()
	got, err := e.qp.PostRecv(wrs)
	require.ErrorIs(e.b, err, want)
	require.Equal(e.b, n, got, "the position of the bad request")
}
