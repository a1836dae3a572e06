package rdma

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// work describes the requests of a thread.
type work struct {
	op     rnicspec.Opcode
	size   int
	window int        // requests posted and not completed
	signal int        // requests per completion entry
	batch  int        // entries per doorbell; 0: each entry is pushed by MMIO
	span   int        // bytes of the responder's memory that requests access; 0: input "range"
	every  simcore.Ps // minimum interval between posts; 0: none

	// Software costs of a request: to see a completion, to build an entry, and to write to the NIC.
	poll, build, mmio simcore.Ps
}

// works returns the work of threads at an end that post by MMIO.
func works(s *study.Session, e *end, op rnicspec.Opcode, size int) work {
	w := work{op: op, size: size, signal: int(s.Input("signal"))}
	side := "host"
	if e.ep == nicspec.EndpointArm {
		side = "arm"
	}
	w.window = int(s.Input(side + ".window"))
	w.poll, w.build, w.mmio = ns(s.Input(side+".poll")), ns(s.Input(side+".build")), ns(s.Input(side+".mmio"))
	return w
}

// load is a group of threads whose completed requests a meter counts.
type load struct {
	bed     *bed
	meter   *study.Meter
	threads []*thread
	over    bool
}

func (b *bed) newLoad(m *study.Meter) *load { return &load{bed: b, meter: m} }

// thread posts requests on a queue pair of its own, as fast as its costs and the window allow.
type thread struct {
	l    *load
	path string // path under whose name the meter counts its requests
	q    *qp
	w    work

	remote, local uint64
	lines, places uint64 // number of message-sized slots in the responder's memory, and in the thread's own
	stream        string // name of the thread's random numbers
	seed          uint64 // seed of the random addresses
	posted        uint64
	inline        uint8      // FlagInline if the data is inline, else 0
	out           int        // requests posted and not completed
	counted       uint64     // requests completed while the meter counted
	began         simcore.Ps // start of the latest post
	due           simcore.Ps // time of the next post, if posts have a minimum interval
	wqe           rnicspec.WQE
	ev            simcore.Event
	free          bool // the meter does not count its requests
	each          func(now simcore.Ps)
}

// start adds a thread at an end that accesses another end's memory.
func (l *load) start(from, to *end, w work) *thread {
	s := l.bed.s
	a := from.newQP(rnicspec.RC, ringFor(w))
	b := to.newQP(rnicspec.RC, 2)
	connect(a, b, int(s.Input("net.mtu")))
	t := &thread{l: l, q: a, w: w, stream: fmt.Sprintf("thread %d", len(l.threads))}
	t.seed = s.Random(t.stream).Uint64()
	size := uint64(max(w.size, mem.LineBytes))
	span := uint64(s.Input("range")) << 20
	if w.span > 0 {
		span = uint64(w.span)
	}
	t.lines = max(span, size) / size
	t.places = max(localBytes/size, uint64(w.window))
	t.remote, t.local = mem.Bus(to.ep, regions), from.alloc(size*t.places)
	t.wqe = rnicspec.WQE{Opcode: w.op, Length: uint32(w.size), RemoteKey: key(to.ep), LocalVA: t.local,
		LocalKey: key(from.ep)}
	t.inline = inline(w.op, w.size)
	a.sends.each = t.ended
	t.ev.H = t
	l.threads = append(l.threads, t)
	return t
}

// inline returns FlagInline if the data fits into the entry, else 0.
func inline(op rnicspec.Opcode, size int) uint8 {
	if !op.Responds() && size > 0 && size <= rnicspec.MaxInline {
		return rnicspec.FlagInline
	}
	return 0
}

// localBytes is the size of the memory that a thread cycles through, so that successive requests use different lines.
const localBytes = 32 << 10

// regions is the start address of the memory that is accessed by requests. It lies above the software's own memory.
const regions = 1 << 32

// ringFor returns log2 of the entries of a ring for the window.
func ringFor(w work) (log uint8) {
	for 1<<log < w.window+w.batch {
		log++
	}
	return log
}

// starts is the time in which threads start: longer than a request takes when all are in flight. Threads that started
// together would go on in waves.
const starts = 20 * simcore.Microsecond

// run starts the threads, each at a random time, and runs until the meter knows the rate.
func (l *load) run() error {
	now := l.bed.engine.Now()
	for _, t := range l.threads {
		t.ev.At = now + l.bed.s.Phase(t.stream, starts)
		l.bed.engine.Schedule(&t.ev)
		t.began = -1
	}
	return l.bed.run()
}

// Handle implements sim.Handler: it starts the thread, or ends the time that a post takes.
func (t *thread) Handle(sim.Event) error {
	if t.began >= 0 {
		t.post()
	}
	t.next()
	return nil
}

// next starts to post the next batch of requests, if the thread's window allows it.
func (t *thread) next() {
	n := max(t.w.batch, 1)
	if t.l.over || t.ev.Pending() || t.out+n > t.w.window {
		return
	}
	t.began = max(t.l.bed.engine.Now(), t.due) + simcore.Ps(n)*t.w.poll
	if t.w.every > 0 {
		t.due = t.began + t.w.every
	}
	t.ev.At = t.began + simcore.Ps(n)*t.w.build + t.w.mmio
	t.l.bed.engine.Schedule(&t.ev)
}

// post gives the NIC the entries whose posting time has passed.
func (t *thread) post() {
	for range max(t.w.batch, 1) {
		t.seed = t.seed*6364136223846793005 + 1442695040888963407
		size := uint64(max(t.w.size, mem.LineBytes))
		t.wqe.RemoteVA, t.wqe.LocalVA = t.remote+(t.seed>>33)%t.lines*size, t.local+t.posted%t.places*size
		t.wqe.Flags = t.inline
		if t.posted++; t.posted%uint64(t.w.signal) == 0 {
			t.wqe.Flags |= rnicspec.FlagSignalled
		}
		t.out++
		if t.w.batch == 0 {
			t.q.push(&t.wqe)
		} else {
			t.q.put(&t.wqe)
		}
	}
	if t.w.batch > 0 {
		t.q.ring()
	}
}

// ended takes a completion entry, which covers all requests since the previous one.
func (t *thread) ended(*rnicspec.CQE) {
	t.out -= t.w.signal
	now := t.l.bed.engine.Now()
	if t.each != nil {
		t.each(now)
	}
	if !t.l.over && t.l.meter != nil && t.l.meter.Warm() {
		t.counted += uint64(t.w.signal)
	}
	if !t.free && !t.l.over && !t.l.meter.Done(now, t.w.signal) {
		t.l.over = true
	}
	t.next()
}

// Name implements sim.Named.
func (t *thread) Name() string { return "Thread" }
