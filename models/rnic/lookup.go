package rnic

import (
	"nictwin/models/rnic/rnicspec"
)

// ctxBytes is the size of one context, which a cache miss reads (assumption).
const ctxBytes = 64

// lookup is a set of context reads that somebody waits for.
type lookup struct {
	q    *qpair
	kind int
	op   *rxOp    // a packet that waits for it
	job  *readJob // or a READ
	left int
	buf  [ctxBytes]byte
}

// What waits for a lookup.
const (
	forSend = iota
	forPacket
	forRead
)

// qpKey separates queue pairs from pages in context memory.
const qpKey = 1 << 63

// lookUp counts the cache misses of a queue pair and of the pages at both ends of n bytes, and
// reads their contexts.
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

// readContext reads a context from memory, if software has provided context memory.
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

// waits reports whether a lookup has to wait for memory; if not, it is over.
func (c *Comp) waits(l *lookup) bool {
	if l.left > 0 {
		l.q.refs++
		return true
	}
	c.pools.lookups = append(c.pools.lookups, l)
	return false
}

// lookUpSend reports whether everything that the next packet of a queue pair needs is in the
// caches; if not, it starts the reads.
func (c *Comp) lookUpSend(q *qpair) bool {
	if q.known || q.asked {
		return q.known
	}
	key, va, n := q.Local()
	l := c.newLookup(q, forSend)
	c.lookUp(l, key, va, min(n, q.PMTU))
	q.asked = c.waits(l)
	q.known = !q.asked
	return q.known
}

// lookUpPacket is lookUpSend for a received packet.
func (c *Comp) lookUpPacket(op *rxOp) bool {
	if op.known || op.asked {
		return op.known
	}
	l := c.newLookup(op.q, forPacket)
	l.op = op
	if op.kind == request && !op.raw {
		key, va, n := op.q.Target(&op.p)
		c.lookUp(l, key, va, min(n, max(len(op.p.Payload), 1)))
	} else {
		c.lookUp(l, 0, 0, 0)
	}
	op.asked = c.waits(l)
	op.known = !op.asked
	return op.known
}

// lookUpRead is lookUpSend for a packet of READ data.
func (c *Comp) lookUpRead(j *readJob, off, n int) bool {
	if j.known {
		j.known = false
		return true
	}
	l := c.newLookup(j.q, forRead)
	l.job = j
	c.lookUp(l, j.r.Key, j.r.VA+uint64(off), n)
	return !c.waits(l)
}

// readDone implements reader: a context has come. A failed read counts like a successful one, since
// the contents are ignored.
func (l *lookup) readDone(c *Comp, _ bool) {
	if l.left--; l.left > 0 {
		return
	}
	q := l.q
	q.refs--
	op, j, kind := l.op, l.job, l.kind
	c.pools.lookups = append(c.pools.lookups, l)
	switch kind {
	case forSend:
		q.asked, q.known = false, true
		c.activate(q)
	case forPacket:
		op.asked, op.known = false, true
		c.unpark(q, op.kind)
	default:
		j.known = true
		c.queue(j)
	}
}
