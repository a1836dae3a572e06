package rnic

import (
	"nictwin/models/rnic/rnicspec"
)

// ctxBytes is the size of one context, which a cache miss reads (assumption).
const ctxBytes = 64

// lookup is a set of context reads that a queue pair, a received packet or a READ waits for.
type lookup struct {
	q    *qpair
	kind int
	op   *rxOp    // with kind forPacket: the packet that waits
	job  *readJob // with kind forRead: the READ that waits
	left int
	buf  [ctxBytes]byte
}

// Kinds of lookups: for the next packet to send, for a received packet, for the next data of a READ.
const (
	forSend = iota
	forPacket
	forRead
)

// qpKey distinguishes queue pairs from pages in context memory.
const qpKey = 1 << 63

// lookUp looks up a queue pair and the pages at both ends of n bytes in the caches. It counts the
// misses and reads their contexts.
func (c *Comp) lookUp(l *lookup, key uint32, va uint64, n int) {
	if l.kind != forRead && !c.qpCache.has(uint64(l.q.Num)) {
		c.counters[rnicspec.CntQPMisses]++
		c.readContext(l, qpKey|uint64(l.q.Num))
	}
	if n == 0 {
		return
	}
	first, _, ok := c.dev.Page(key, va)
	if !ok {
		return
	}
	last, _, _ := c.dev.Page(key, va+uint64(n)-1)
	c.page(l, first)
	if last != first {
		c.page(l, last)
	}
}

func (c *Comp) page(l *lookup, page uint64) {
	if !c.pageCache.has(page) {
		c.counters[rnicspec.CntPageMisses]++
		c.readContext(l, page)
	}
}

// readContext reads a context from context memory, if software has provided such memory.
func (c *Comp) readContext(l *lookup, key uint64) {
	if c.context.bytes == 0 {
		return
	}
	l.left++
	slots := c.context.bytes / ctxBytes
	c.read(c.context.addr+spread(key)%slots*ctxBytes, l.buf[:], l)
}

func (c *Comp) newLookup(q *qpair, kind int) *lookup {
	l := take(&c.pools.lookups)
	l.q, l.kind, l.op, l.job, l.left = q, kind, nil, nil, 0
	return l
}

// waits reports whether a lookup waits for reads; if not, it frees the lookup.
func (c *Comp) waits(l *lookup) bool {
	if l.left > 0 {
		l.q.refs++
		return true
	}
	c.pools.lookups = append(c.pools.lookups, l)
	return false
}

// lookUpSend reports whether the lookups for a queue pair's next packet are done. If they were not
// started, it starts them.
func (c *Comp) lookUpSend(q *qpair) bool {
	if q.lookedUp || q.requested {
		return q.lookedUp
	}
	key, va, n := q.Local()
	l := c.newLookup(q, forSend)
	c.lookUp(l, key, va, min(n, q.PMTU))
	q.requested = c.waits(l)
	q.lookedUp = !q.requested
	return q.lookedUp
}

// lookUpPacket reports whether the lookups for a received packet are done. If they were not
// started, it starts them.
func (c *Comp) lookUpPacket(op *rxOp) bool {
	if op.lookedUp || op.requested {
		return op.lookedUp
	}
	l := c.newLookup(op.q, forPacket)
	l.op = op
	if op.kind == request && !op.raw {
		key, va, n := op.q.Target(&op.p)
		c.lookUp(l, key, va, min(n, max(len(op.p.Payload), 1)))
	} else {
		c.lookUp(l, 0, 0, 0)
	}
	op.requested = c.waits(l)
	op.lookedUp = !op.requested
	return op.lookedUp
}

// lookUpRead reports whether the lookups for a READ's next data are done. If not, it starts them.
func (c *Comp) lookUpRead(j *readJob, off, n int) bool {
	if j.lookedUp {
		j.lookedUp = false
		return true
	}
	l := c.newLookup(j.q, forRead)
	l.job = j
	c.lookUp(l, j.plan.Key, j.plan.VA+uint64(off), n)
	return !c.waits(l)
}

// dmaReadDone implements reader: a context was read. A failed read counts like a successful one,
// because the contents are ignored.
func (l *lookup) dmaReadDone(c *Comp, _ bool) {
	if l.left--; l.left > 0 {
		return
	}
	q := l.q
	q.refs--
	op, j, kind := l.op, l.job, l.kind
	c.pools.lookups = append(c.pools.lookups, l)
	switch kind {
	case forSend:
		q.requested, q.lookedUp = false, true
		c.activate(q)
	case forPacket:
		op.requested, op.lookedUp = false, true
		c.unpark(q, op.kind)
	default:
		j.lookedUp = true
		c.requestInTurn(j)
	}
}
