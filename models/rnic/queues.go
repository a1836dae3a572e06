package rnic

import (
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// qpair is a queue pair with its rings and everything of it in flight. It is one block of memory,
// since with many queue pairs each turn misses the processor's cache.
type qpair struct {
	// Fields used for every packet come first, in one cache line with the head of core.QP.
	refs     int32         // references that must be gone before the queue pair can be destroyed
	atomics  int32         // atomics that asked for a context and have not written
	due      [2]simcore.Ps // time of the last request and of the last response received
	endpoint int           // endpoint whose memory holds the send ring, and whose contexts its requests take
	port     int
	active   bool // in transmitter.turn
	known    bool // its lookups for the next packet are done
	asked    bool // those lookups are in flight
	timing   bool // an event of the acknowledgement timer is pending
	// Things that the completions of a failure wait for: requests that have not taken effect, and
	// packets that no peer acknowledges.
	unreported int32

	core.QP
	steps      uint64 // progress when the timer was started
	out        chain[*txPacket]
	leaving    chain[*txPacket]  // of UC, UD and raw: packets from out, until reported
	parked     [2]chain[*rxOp]   // received packets, until they are handled
	ripe       [2]int32          // number of them past their latency
	queued     [2]int32          // requests waiting for a context, by endpoint
	barred     chain[*rxOp]      // requests that would overtake: see order.go
	flushed    []core.Completion // of a failed queue pair: written once unreported is 0
	replies    chain[*reply]
	send, recv ring
	cqs        [2]*cq // of sends and of receives
	qkey       uint32
}

// ring is a ring of entries in memory. Indices run freely.
type ring struct {
	addr    uint64
	log     uint8
	entry   int
	pi      uint16 // software's producer index
	asked   uint16 // entries before this one were requested
	fetches chain[*fetch]
}

// cq is a completion queue in memory.
type cq struct {
	addr uint64
	log  uint8
	next uint32
}

// fetch is a read of ring entries.
type fetch struct {
	q    *qpair
	r    *ring
	n    int
	done bool
	buf  []byte
	next *fetch // in ring.fetches
}

// fetchesAhead is the number of entry reads that a ring has in flight (assumption).
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

// fetch requests posted entries.
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

// push takes a work entry written to the NIC. It follows the entries being read; if earlier ones
// were not even requested, it is read from the ring like them.
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
		c.writeCompletions(f.q, &c.e)
		f.n = 0
	}
	c.fetched(f.q, f.r)
}

// fetched passes entries that have come to the function, in order.
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
		c.writeCompletions(q, &c.e)
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

// writeCompletions writes completion entries. If a queue pair has failed, requests decided before may not have
// taken effect, and packets planned before may not have left: their completions come first.
func (c *Comp) writeCompletions(q *qpair, e *core.Effects) {
	if q.unreported > 0 && q.State == rnicspec.Failed {
		q.flushed = append(q.flushed, e.Done...)
		return
	}
	for i := range e.Done {
		c.writeCompletion(q, &e.Done[i])
	}
}

// completeRequest writes the completions of a request that takes effect.
func (c *Comp) completeRequest(q *qpair, e *core.Effects) {
	for i := range e.Done {
		c.writeCompletion(q, &e.Done[i])
	}
	c.settle(q)
}

// settle records that one of the things that a failure's completions wait for has been reported.
func (c *Comp) settle(q *qpair) {
	if q.unreported--; q.unreported > 0 || len(q.flushed) == 0 {
		return
	}
	for i := range q.flushed {
		c.writeCompletion(q, &q.flushed[i])
	}
	q.flushed = q.flushed[:0]
}

func (c *Comp) writeCompletion(q *qpair, d *core.Completion) {
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

// pools hold objects for reuse.
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
