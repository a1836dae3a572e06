package rdma

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// echoCore is a core that serves the messages of all of its queue pairs, one after the other.
type echoCore struct {
	bed     *bed
	service simcore.Ps // time for a message: to see it, and to build and post the answer
	waiting fifo.Queue[message]
	ev      simcore.Event
}

// message is a receive completion of one of a core's queue pairs.
type message struct {
	v *server
	c rnicspec.CQE
}

func (b *bed) newCore(service simcore.Ps) *echoCore {
	k := &echoCore{bed: b, service: service}
	k.ev.H = k
	return k
}

func (k *echoCore) next() {
	if k.waiting.Len() == 0 || k.ev.Pending() {
		return
	}
	k.ev.At = k.bed.engine.Now() + k.service
	k.bed.engine.Schedule(&k.ev)
}

// Handle implements sim.Handler: it sends the answer whose service time has passed.
func (k *echoCore) Handle(sim.Event) error {
	m := k.waiting.Pop()
	m.v.answer(&m.c)
	k.next()
	return nil
}

// Name implements sim.Named.
func (k *echoCore) Name() string { return "Core" }

// server is a queue pair whose core sends back each message.
type server struct {
	k       *echoCore
	q       *qp
	size    int
	refill  int // number of messages after which receive entries are posted again
	buffers uint64
	handles map[uint32]uint32 // address handles, by the peer's queue pair
	spent   int
	wqe     rnicspec.WQE
}

// depth is the number of receive entries of a queue pair.
const depth = 1 << recvLog / 2

// netBytes returns the bytes that a UD receive places in the buffer before the message.
func netBytes(t rnicspec.QPType) int {
	if t == rnicspec.UD {
		return rnicspec.NetBytes
	}
	return 0
}

// serve starts a server on a core at an end. A UD server serves any number of clients, an RC server its peer.
func (e *end) serve(t rnicspec.QPType, size int, k *echoCore) *server {
	v := &server{k: k, q: e.newQP(t, recvLog), size: size, refill: depth / 4, handles: map[uint32]uint32{}}
	v.buffers = e.alloc(uint64(depth * v.stride()))
	v.wqe = rnicspec.WQE{Opcode: rnicspec.Send, Length: uint32(size), QKey: qkey, LocalKey: key(e.ep),
		Flags: inline(rnicspec.Send, size)}
	for i := range depth {
		v.offer(i)
	}
	v.q.ringReceive()
	v.q.recvs.each = v.got
	return v
}

func (v *server) stride() int { return (v.size + rnicspec.NetBytes + 63) &^ 63 }

func (v *server) offer(i int) {
	v.q.receive(&rnicspec.RecvWQE{
		ID: uint64(i), VA: v.buffers + uint64(i*v.stride()), Length: uint32(v.size + netBytes(v.q.typ)),
		Key: key(v.q.e.ep),
	})
}

// got queues a received message for the core.
func (v *server) got(c *rnicspec.CQE) {
	v.k.waiting.Push(message{v, *c})
	v.k.next()
}

// answer sends a message back.
func (v *server) answer(c *rnicspec.CQE) {
	v.wqe.DestQP, v.wqe.Handle = c.SrcQP, v.handles[c.SrcQP]
	v.wqe.LocalVA = v.buffers + c.ID*uint64(v.stride()) + uint64(netBytes(v.q.typ))
	v.q.push(&v.wqe)
	v.offer(int(c.ID))
	if v.spent++; v.spent == v.refill {
		v.spent = 0
		v.q.ringReceive()
	}
}

// ask adds a thread that sends messages to a server and waits for the answers.
func (l *load) ask(from *end, v *server, w work) *thread {
	typ := v.q.typ
	q := from.newQP(typ, recvLog)
	connect(q, v.q, int(l.bed.s.Input("net.mtu")))
	v.handles[q.n] = v.q.e.m.to(from.m)
	t := &thread{l: l, q: q, w: w, stream: fmt.Sprintf("thread %d", len(l.threads)), lines: 1, places: 1}
	t.local = from.alloc(uint64(max(w.size, 64)))
	t.wqe = rnicspec.WQE{
		Opcode: rnicspec.Send, Length: uint32(w.size), LocalVA: t.local, LocalKey: key(from.ep), QKey: qkey,
		DestQP: v.q.n, Handle: from.m.to(v.q.e.m),
	}
	t.inline = inline(rnicspec.Send, w.size)
	t.ev.H = t
	into := from.alloc(uint64(w.size + rnicspec.NetBytes + 64))
	offer := func() {
		q.receive(&rnicspec.RecvWQE{VA: into, Length: uint32(w.size + netBytes(typ)), Key: key(from.ep)})
	}
	for range depth {
		offer()
	}
	q.ringReceive()
	came := 0
	q.recvs.each = func(c *rnicspec.CQE) {
		offer()
		if came++; came%(depth/4) == 0 {
			q.ringReceive()
		}
		t.ended(c)
	}
	l.threads = append(l.threads, t)
	return t
}
