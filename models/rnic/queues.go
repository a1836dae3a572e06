package rnic

import (
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// qpair is a queue pair: its transport state, its rings, and its packets in flight. It is one block
// of memory: with many queue pairs, each block is read from the simulating machine's memory on each
// turn.
type qpair struct {
	// Fields used for every packet come first, so that they share a cache line with the head of
	// core.QP.
	refs       int32         // packets, fetches and lookups in flight; the pair can be destroyed when there are none
	atomics    int32         // atomics that have requested a context and have not written
	due        [2]simcore.Ps // time when the latency of the latest request, and of the latest response, has passed
	endpoint   int           // endpoint whose memory holds the send ring, and whose contexts the requests use
	port       int
	active     bool // the pair is in transmitter.turn
	lookedUp   bool // the lookups for the pair's next packet are done
	requested  bool // the lookups for the pair's next packet are in flight
	timing     bool // the event of the pair's acknowledgement timer is pending
	waitsEntry bool // the pair is in sharedQueue.waiting
	ended      bool // EventLastWQE was raised
	// Number of received requests that have not taken effect, plus packets of UC, UD and raw that
	// have not been sent. If the pair fails, their completions come before those of the failure.
	unreported int32

	core.QP
	steps      uint64 // core.QP.Steps when the timer was started
	out        chain[*txPacket]
	leaving    chain[*txPacket]  // for UC, UD and raw: packets taken from list `out`, until their completions
	parked     [2]chain[*rxOp]   // received requests, and received responses, that wait to be handled
	ripe       [2]int32          // for each of the two lists in `parked`: number of packets whose latency has passed
	queued     [2]int32          // requests that wait for a context, by endpoint
	barred     chain[*rxOp]      // requests that would overtake another; see order.go
	flushed    []core.Completion // completions of a failed queue pair, which are written once unreported is 0
	replies    chain[*reply]
	send, recv ring
	shared     *sharedQueue // gives receive entries instead of ring recv; nil: none
	account    *account     // nil: none
	pace       *pace        // congestion control; nil: none
	cqs        [2]*cq       // completion queues of the send and of the receive side
	qkey       uint32
}

// ring is a ring of entries in memory. Its indices count modulo 2^16, not modulo its size.
type ring struct {
	addr      uint64
	log       uint8
	entry     int
	pi        uint16 // software's producer index
	requested uint16 // index behind the last entry that was requested from memory
	fetches   chain[*fetch]
	shared    *sharedQueue // the queue whose ring it is; nil: that of a queue pair
}

// cq is a completion queue in memory.
type cq struct {
	addr uint64
	log  uint8
	next uint32
}

// fetch is a read of consecutive ring entries.
type fetch struct {
	q    *qpair // nil: the ring is that of a shared receive queue
	r    *ring
	n    int
	done bool
	buf  []byte
	next *fetch // next fetch in ring.fetches
}

// fetchesAhead is the number of entry reads that the ring of a queue pair keeps in flight (assumption).
const fetchesAhead = 2

// mostFetches returns how many entry reads a ring may have in flight. A shared receive queue, from which many queue
// pairs take entries, has so many that they bring as many entries as the NIC holds (Spec.Prefetch), if each is as long
// as it may be: with more of them, the NIC would read entry by entry as messages take them.
func (c *Comp) mostFetches(r *ring) int {
	if r.shared != nil {
		return max(fetchesAhead, c.spec.Prefetch/c.spec.Fetch)
	}
	return fetchesAhead
}

// ring handles a doorbell: pi is the new producer index. q is nil for the ring of a shared receive queue.
func (c *Comp) ring(q *qpair, r *ring, pi uint16) {
	if ahead := pi - r.pi; int(ahead) > 1<<r.log {
		c.counters[rnicspec.CntWrongAccess]++
		return
	}
	r.pi = pi
	c.fetch(q, r)
}

// fetch reads posted entries from a ring in memory, as far as there is room for them.
func (c *Comp) fetch(q *qpair, r *ring) {
	for most := c.mostFetches(r); r.requested != r.pi && r.fetches.Len() < most; {
		size := 1 << r.log
		at := int(r.requested) & (size - 1)
		n := min(int(r.pi-r.requested), c.spec.Fetch, size-at)
		if n = min(n, c.room(q, r)); n <= 0 {
			return
		}
		f := c.newFetch(q, r, n)
		r.requested += uint16(n)
		r.fetches.Push(f)
		c.read(r.addr+uint64(at*r.entry), f.buf[:n*r.entry], f)
	}
}

// room returns how many entries of a ring may be read ahead.
func (c *Comp) room(q *qpair, r *ring) int {
	switch {
	case r.shared != nil:
		inFlight := r.ahead() - int(r.pi-r.requested)
		return c.spec.Prefetch - r.shared.Len() - inFlight
	case r == &q.recv:
		return c.spec.Prefetch - q.Receives()
	}
	return c.spec.Fetch
}

func (c *Comp) newFetch(q *qpair, r *ring, n int) *fetch {
	if r.shared != nil {
		q = nil // other queue pairs may take the entries
	}
	f := c.pools.fetch()
	f.q, f.r, f.n, f.done = q, r, n, false
	if need := max(c.spec.Fetch, 1) * rnicspec.WQEBytes; len(f.buf) < need {
		f.buf = make([]byte, need)
	}
	if q != nil {
		q.refs++
	}
	return f
}

// push handles a work entry that software wrote to the NIC. The entry is queued behind the entries being read.
// If earlier entries were not even requested, the new one is read from the ring like them.
func (c *Comp) push(q *qpair, b []byte) {
	r := &q.send
	r.pi++
	if r.requested != r.pi-1 {
		return
	}
	r.requested++
	f := c.newFetch(q, r, 1)
	copy(f.buf, b)
	f.done = true
	r.fetches.Push(f)
	c.fetched(q, r)
}

// dmaReadDone implements reader.
func (f *fetch) dmaReadDone(c *Comp, ok bool) {
	f.done = true
	if s := f.r.shared; s != nil {
		if !ok {
			s.Bad, f.n = true, 0
		}
		c.sharedFetched(s)
		return
	}
	if !ok {
		c.e.Reset()
		f.q.Fail(rnicspec.LocalQP, &c.e)
		c.writeCompletions(f.q, &c.e)
		f.n = 0
	}
	c.fetched(f.q, f.r)
}

// fetched posts the entries that have been read, in order.
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

// writeCompletions writes completion entries. Those of a failed queue pair are put off until the
// completions of earlier requests and packets have been written.
func (c *Comp) writeCompletions(q *qpair, e *core.Effects) {
	if q.unreported > 0 && q.State == rnicspec.Failed {
		q.flushed = append(q.flushed, e.Done...)
		q.account.flush()
		return
	}
	for i := range e.Done {
		c.writeCompletion(q, &e.Done[i])
	}
	c.lastEntry(q)
}

// completeRequest writes the completions of a request that takes effect now.
func (c *Comp) completeRequest(q *qpair, e *core.Effects) {
	for i := range e.Done {
		c.writeCompletion(q, &e.Done[i])
	}
	c.settle(q)
}

// settle records that one of the completions that precede a failure was written; after the last of
// them, it writes the completions of the failure.
func (c *Comp) settle(q *qpair) {
	if q.unreported--; q.unreported > 0 {
		return
	}
	for i := range q.flushed {
		c.writeCompletion(q, &q.flushed[i])
	}
	q.flushed = q.flushed[:0]
	c.lastEntry(q)
}

func (c *Comp) writeCompletion(q *qpair, d *core.Completion) {
	to := q.cqs[0]
	if d.Recv {
		to = q.cqs[1]
		if q.account != nil {
			q.account.written++
		}
	}
	c.writeEntry(to, &d.CQE)
}

// writeEntry writes the next entry of a completion queue.
func (c *Comp) writeEntry(to *cq, e *rnicspec.CQE) {
	var b [rnicspec.CQEBytes]byte
	e.Phase = to.next>>to.log&1 == 0
	e.Encode(b[:])
	at := uint64(to.next&(1<<to.log-1)) * rnicspec.CQEBytes
	to.next++
	c.rx.unplaced += c.write(to.addr+at, b[:], &c.rx)
}

// pools holds free lists of objects.
type pools struct {
	fetches []*fetch
	packets []*txPacket
	ops     []*rxOp
	replies []*reply
	jobs    []*readJob
	lookups []*lookup
	slow    []*slowPacket
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
