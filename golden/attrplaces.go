package golden

import (
	"nictwin/golden/memory"
	"nictwin/models/tlp"
)

// others calls f for the entries but e that are at work, and those that are
// over, until it returns true.
func (es *Entries) others(e *txEntry, f func(*txEntry) bool) bool {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.oldest; q.open && i != q.ctx.PI; i = q.after(i) {
			for o := q.slot(i).entry; o != nil; o = o.alt {
				if !o.sameAs(e) && f(o) {
					return true
				}
			}
		}
	}
	for k := range es.retired.Len() {
		if f(*es.retired.At(k)) {
			return true
		}
	}
	return false
}

// holders calls f for each piece of an entry but e that covers n bytes at an
// address, until f returns true: of those at work, and of those that are over.
func (es *Entries) holders(e *txEntry, addr uint64, n int, f func(place) bool) bool {
	return es.places(addr, func(h place) bool {
		o := h.entry
		return !o.left && (e == nil || !o.sameAs(e)) && h.at+n <= o.pieces[h.piece].len && f(h)
	})
}

// shared reports whether what was read for an entry may have been read for
// another.
func (es *Entries) shared(e *txEntry) bool {
	for i := range e.count {
		for _, v := range e.pieces[i].asked.All() {
			if !es.holders(e, e.pieces[i].bus+uint64(v.Lo), v.Hi-v.Lo, func(place) bool { return true }) {
				return false
			}
		}
	}
	return true
}

// takeEarliest gives an entry whose bytes have left the earliest reads of these
// bytes, in exchange for its own. What is later fits all other entries at work
// that it fitted, so that the entry can be forgotten, unless others are kept that
// ended without their bytes.
func (es *Entries) takeEarliest(e *txEntry) {
	for i := range e.count {
		p := &e.pieces[i]
		for at := 0; at < p.len; {
			h := place{e, i, at}
			c := es.content(h, p.len-at)
			if c.kind != isGot {
				at += c.n
				continue
			}
			n := es.uniform(h.addr(), c.n)
			if o, ok := es.earlier(h, &c, n); ok {
				es.search()
				mine, other := es.content(h, n), es.content(o, n)
				es.take(h, &mine)
				es.take(o, &other)
				es.give(h, &other)
				es.give(o, &mine)
			}
			at += n
		}
	}
}

// earlier finds the place with the earliest read of the same bytes.
func (es *Entries) earlier(h place, c *content, n int) (best place, ok bool) {
	first := c.issued
	es.places(h.addr(), func(o place) bool {
		if o.entry.sameAs(h.entry) || o.entry.settledAt(o.piece, o.at, n) {
			return false
		}
		d := es.content(o, n)
		if d.kind != isGot || d.n < n || d.issued >= first || d.issued < h.entry.fetched {
			return false
		}
		p := &h.entry.pieces[h.piece]
		if h.entry.buf.Differs(p.off+h.at, o.entry.buf.Part(o.entry.pieces[o.piece].off+o.at, n)) >= n {
			best, first, ok = o, d.issued, true
		}
		return false
	})
	return best, ok
}

// surelyOf reports whether a read of a piece is one of a queue's: entries of it
// name all that is read, and those of no other queue do.
func (es *Entries) surelyOf(d *readReq, queue int) bool {
	named := false
	return !es.places(d.addr, func(h place) bool {
		e := h.entry
		if e.left || h.at+d.n > e.pieces[h.piece].len || d.issued < e.fetched || d.issued > e.over {
			return false
		}
		named = named || e.queue.id == queue
		return e.queue.id != queue
	}) && named && len(d.dest) > 0
}

// place is a byte of a piece of a work entry: what one read may fill, once.
// docs/attribution.md states the problem that is solved here.
type place struct {
	entry *txEntry
	piece int
	at    int // in the piece
}

func (h place) addr() uint64 { return h.entry.pieces[h.piece].bus + uint64(h.at) }

// uniform is how many bytes from an address on, n at most, have the same places
// with the same reads in them.
func (es *Entries) uniform(addr uint64, n int) int {
	n = min(n, tlp.PageBytes-int(addr&(tlp.PageBytes-1)))
	for node := es.read.First(addr); node != nil; node = es.read.Next(node) {
		switch {
		case node.Owner.Kind != memory.Piece || addr >= node.Hi:
		case addr < node.Lo:
			n = min(n, int(min(node.Lo-addr, tlp.PageBytes)))
		default:
			h := place{node.Owner.Entry, int(node.Owner.Part), int(addr - node.Lo)}
			n = h.evenlyWritten(es.content(h, n).n)
		}
	}
	return n
}
