package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/tlp"
)

// others calls f for the entries but e that are at work, and those that are
// over, until it returns true.
func (es *Entries) others(e *Entry, f func(*Entry) bool) bool {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && i != q.Ctx.PI; i = q.After(i) {
			for o := q.Slot(i).Entry; o != nil; o = o.Alt {
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

// Holders calls f for each piece of an entry but e that covers n bytes at an
// address, until f returns true: of those at work, and of those that are over.
func (es *Entries) Holders(e *Entry, addr uint64, n int, f func(Place) bool) bool {
	return es.places(addr, func(h Place) bool {
		o := h.entry
		return !o.Left && (e == nil || !o.sameAs(e)) && h.at+n <= o.Pieces[h.piece].len && f(h)
	})
}

// Shared reports whether what was read for an entry may have been read for
// another.
func (es *Entries) Shared(e *Entry) bool {
	for i := range e.Count {
		for _, v := range e.Pieces[i].asked.All() {
			if !es.Holders(e, e.Pieces[i].bus+uint64(v.Lo), v.Hi-v.Lo, func(Place) bool { return true }) {
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
func (es *Entries) takeEarliest(e *Entry) {
	for i := range e.Count {
		p := &e.Pieces[i]
		for at := 0; at < p.len; {
			h := Place{e, i, at}
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
func (es *Entries) earlier(h Place, c *content, n int) (best Place, ok bool) {
	first := c.issued
	es.places(h.addr(), func(o Place) bool {
		if o.entry.sameAs(h.entry) || o.entry.settledAt(o.piece, o.at, n) {
			return false
		}
		d := es.content(o, n)
		if d.kind != isGot || d.n < n || d.issued >= first || d.issued < h.entry.fetched {
			return false
		}
		p := &h.entry.Pieces[h.piece]
		if h.entry.Buf.Differs(p.off+h.at, o.entry.Buf.Part(o.entry.Pieces[o.piece].off+o.at, n)) >= n {
			best, first, ok = o, d.issued, true
		}
		return false
	})
	return best, ok
}

// SurelyOf reports whether a read of a piece is one of a queue's: entries of it
// name all that is read, and those of no other queue do.
func (es *Entries) SurelyOf(d *Read, queue int) bool {
	named := false
	return !es.places(d.Addr, func(h Place) bool {
		e := h.entry
		if e.Left || h.at+d.N > e.Pieces[h.piece].len || d.Issued < e.fetched || d.Issued > e.over {
			return false
		}
		named = named || e.Queue.ID == queue
		return e.Queue.ID != queue
	}) && named && len(d.Dest) > 0
}

// Place is a byte of a piece of a work entry: what one read may fill, once.
// docs/attribution.md states the problem that is solved here.
type Place struct {
	entry *Entry
	piece int
	at    int // in the piece
}

func (h Place) addr() uint64 { return h.entry.Pieces[h.piece].bus + uint64(h.at) }

// uniform is how many bytes from an address on, n at most, have the same places
// with the same reads in them.
func (es *Entries) uniform(addr uint64, n int) int {
	n = min(n, tlp.PageBytes-int(addr&(tlp.PageBytes-1)))
	for node := es.Readable.First(addr); node != nil; node = es.Readable.Next(node) {
		switch {
		case node.Owner.Kind != memory.Piece || addr >= node.Hi:
		case addr < node.Lo:
			n = min(n, int(min(node.Lo-addr, tlp.PageBytes)))
		default:
			h := Place{node.Owner.Entry, int(node.Owner.Part), int(addr - node.Lo)}
			n = h.evenlyWritten(es.content(h, n).n)
		}
	}
	return n
}
