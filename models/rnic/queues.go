package rnic

import (
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// qpair is a queue pair with its rings, and what of it is under way. All of it is in one place, as one of many queue
// pairs has to be fetched from afar whenever it is its turn.
type qpair struct {
	// What every packet looks at comes first, in one line of the processor with the head of core.QP.
	refs     int32         // that must be gone before the queue pair can be
	atomics  int32         // that asked for a context and have not written
	due      [2]simcore.Ps // of the last request, of the last response that came
	endpoint int           // whose memory has its send ring: whose contexts its requests take
	port     int
	active   bool // in transmitter.turn
	known    bool // its lookups for the next packet are done
	asked    bool // they are under way
	timing   bool // an event of the acknowledgement timer is pending
	// what the completions of a failure wait for: requests without their effects yet, and packets that nobody
	// acknowledges
	untold int32

	core.QP
	steps      uint64 // of progress, when the timer was started
	out        chain[*txPacket]
	leaving    chain[*txPacket]  // of UC, UD and raw: those that were in out, until they are told
	parked     [2]chain[*rxOp]   // packets that have come, until they are handled
	ripe       [2]int32          // how many of them are past their latency
	queued     [2]int32          // requests that wait for a context, by endpoint
	barred     chain[*rxOp]      // those that would overtake: order.go
	flushed    []core.Completion // of a queue pair that has failed: told when nothing is untold
	replies    chain[*reply]
	send, recv ring
	cqs        [2]*cq // of sends, of receives
	qkey       uint32
}

// ring is a ring of entries in memory. Indices run freely.
type ring struct {
	addr    uint64
	log     uint8
	entry   int
	pi      uint16 // up to which software has posted
	asked   uint16 // up to which entries were asked for
	fetches chain[*fetch]
}

// cq is a completion queue in memory.
type cq struct {
	addr uint64
	log  uint8
	next uint32
}

// fetch is entries being read.
type fetch struct {
	q    *qpair
	r    *ring
	n    int
	done bool
	buf  []byte
	next *fetch // in ring.fetches
}

// fetchesAhead is how many reads of entries a ring has in flight (assumption).
const fetchesAhead = 2

// ring takes a doorbell.
func (c *Comp) ring(q *qpair, r *ring, pi uint16) {
	if ahead := pi - r.pi; int(ahead) > 1<<r.log {
		c.counters[rnicspec.CntWrongAccess]++
		return
	}
	r.pi = pi
	c.fetch(q, r)
}

// fetch asks for entries that were posted.
func (c *Comp) fetch(q *qpair, r *ring) {
	for r.asked != r.pi && r.fetches.Len() < fetchesAhead {
		size := 1 << r.log
		at := int(r.asked) & (size - 1)
		n := min(int(r.pi-r.asked), c.spec.Fetch, size-at)
		if r == &q.recv {
			if n = min(n, c.spec.Prefetch-q.Receives()); n <= 0 {
				return
			}
		}
		f := c.newFetch(q, r, n)
		r.asked += uint16(n)
		r.fetches.Push(f)
		c.read(r.addr+uint64(at*r.entry), f.buf[:n*r.entry], f)
	}
}

func (c *Comp) newFetch(q *qpair, r *ring, n int) *fetch {
	f := c.pools.fetch()
	f.q, f.r, f.n, f.done = q, r, n, false
	if need := max(c.spec.Fetch, 1) * rnicspec.WQEBytes; len(f.buf) < need {
		f.buf = make([]byte, need)
	}
	q.refs++
	return f
}

// push takes a work entry that was written to the NIC. It follows those that are being read; if some were not even
// asked for, it is read from the ring like them.
func (c *Comp) push(q *qpair, b []byte) {
	r := &q.send
	r.pi++
	if r.asked != r.pi-1 {
		return
	}
	r.asked++
	f := c.newFetch(q, r, 1)
	copy(f.buf, b)
	f.done = true
	r.fetches.Push(f)
	c.fetched(q, r)
}

// readDone implements reader.
func (f *fetch) readDone(c *Comp, ok bool) {
	f.done = true
	if !ok {
		c.e.Reset()
		f.q.Fail(rnicspec.LocalQP, &c.e)
		c.tell(f.q, &c.e)
		f.n = 0
	}
	c.fetched(f.q, f.r)
}

// fetched hands entries that have come to the function, in order.
func (c *Comp) fetched(q *qpair, r *ring) {
	for r.fetches.Len() > 0 && r.fetches.Front().done {
		f := r.fetches.Pop()
		c.e.Reset()
		for i := range f.n {
			b := f.buf[i*r.entry:]
			if r == &q.recv {
				var w rnicspec.RecvWQE
				w.Decode(b)
				q.PostRecv(w, &c.e)
			} else {
				var w rnicspec.WQE
				w.Decode(q.Type, b)
				q.Post(w, &c.e)
			}
		}
		c.tell(q, &c.e)
		q.refs--
		c.pools.fetches = append(c.pools.fetches, f)
	}
	c.fetch(q, r)
	if r == &q.recv {
		c.unpark(q, request)
		return
	}
	c.activate(q)
}

// tell writes completion entries. When a queue pair fails, requests may have been decided before that have not had
// their effects, and packets planned that have not left: their completions come first.
func (c *Comp) tell(q *qpair, e *core.Effects) {
	if q.untold > 0 && q.State == rnicspec.Failed {
		q.flushed = append(q.flushed, e.Done...)
		return
	}
	for i := range e.Done {
		c.tellOne(q, &e.Done[i])
	}
}

// told ends the effects of a request on the completion queues.
func (c *Comp) told(q *qpair, e *core.Effects) {
	for i := range e.Done {
		c.tellOne(q, &e.Done[i])
	}
	c.settle(q)
}

// settle says that one of the things that a failure's completions wait for was told.
func (c *Comp) settle(q *qpair) {
	if q.untold--; q.untold > 0 || len(q.flushed) == 0 {
		return
	}
	for i := range q.flushed {
		c.tellOne(q, &q.flushed[i])
	}
	q.flushed = q.flushed[:0]
}

func (c *Comp) tellOne(q *qpair, d *core.Completion) {
	to := q.cqs[0]
	if d.Recv {
		to = q.cqs[1]
	}
	var b [rnicspec.CQEBytes]byte
	d.Phase = to.next>>to.log&1 == 0
	d.CQE.Encode(b[:])
	at := uint64(to.next&(1<<to.log-1)) * rnicspec.CQEBytes
	to.next++
	c.rx.unplaced += c.write(to.addr+at, b[:], &c.rx)
}

// pools are what is used again.
type pools struct {
	fetches []*fetch
	packets []*txPacket
	ops     []*rxOp
	replies []*reply
	jobs    []*readJob
	lookups []*lookup
}

func take[T any](pool *[]*T) *T {
	if n := len(*pool); n > 0 {
		x := (*pool)[n-1]
		*pool = (*pool)[:n-1]
		return x
	}
	return new(T)
}

func (p *pools) fetch() *fetch { return take(&p.fetches) }
