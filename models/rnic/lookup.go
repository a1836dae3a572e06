package rnic

import (
	"nictwin/models/rnic/rnicspec"
)

// ctxBytes is what is read when a cache lacks something: one context (assumption).
const ctxBytes = 64

// lookup is contexts being read for somebody.
type lookup struct {
	q    *qpair
	kind int
	op   *rxOp    // a packet that waits for it
	job  *readJob // or a READ
	left int
	buf  [ctxBytes]byte
}

// Who waits for a lookup.
const (
	forSend = iota
	forPacket
	forRead
)

// qpKey sets queue pairs apart from pages in context memory.
const qpKey = 1 << 63

// missing counts what the caches lack of a queue pair and of the pages at both ends of n bytes, and asks for it.
func (c *Comp) missing(l *lookup, key uint32, va uint64, n int) {
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

// readContext reads a context from memory, if software said where they are.
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

// lookUpSend reports whether all that the next packet of a queue pair needs is at hand; if not, it is asked for.
func (c *Comp) lookUpSend(q *qpair) bool {
	if q.known || q.asked {
		return q.known
	}
	key, va, n := q.Local()
	l := c.newLookup(q, forSend)
	c.missing(l, key, va, min(n, q.PMTU))
	q.asked = c.waits(l)
	q.known = !q.asked
	return q.known
}

// lookUpPacket is the same of a packet that has come.
func (c *Comp) lookUpPacket(op *rxOp) bool {
	if op.known || op.asked {
		return op.known
	}
	l := c.newLookup(op.q, forPacket)
	l.op = op
	if op.kind == request && !op.raw {
		key, va, n := op.q.Target(&op.p)
		c.missing(l, key, va, min(n, max(len(op.p.Payload), 1)))
	} else {
		c.missing(l, 0, 0, 0)
	}
	op.asked = c.waits(l)
	op.known = !op.asked
	return op.known
}

// lookUpRead is the same of a packet of READ data.
func (c *Comp) lookUpRead(j *readJob, off, n int) bool {
	if j.known {
		j.known = false
		return true
	}
	l := c.newLookup(j.q, forRead)
	l.job = j
	c.missing(l, j.r.Key, j.r.VA+uint64(off), n)
	return !c.waits(l)
}

// readDone implements reader: a context has come. One that cannot be read is as good as read: its bytes have no say.
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
