package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// others calls f for each other entry at work, and for each retired one, until f returns true. It reports whether f
// did.
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

// holders calls f for each piece that covers n bytes at an address, until f returns true: pieces of entries at work
// and of retired ones, except those of e and of entries whose frames have left.
func (es *Entries) holders(e *Entry, addr uint64, n int, f func(Place) bool) bool {
	return es.places(addr, func(h Place) bool {
		o := h.entry
		return !o.Left && (e == nil || !o.sameAs(e)) && h.at+n <= o.Pieces[h.piece].len && f(h)
	})
}

// OtherSource reports whether another entry has n bytes at an address in its pieces.
func (es *Entries) OtherSource(e *Entry, addr uint64, n int) bool {
	return es.holders(e, addr, n, func(Place) bool { return true })
}

// Shared reports whether everything read for an entry may have been read for others.
func (es *Entries) Shared(e *Entry) bool {
	for i := range e.Count {
		for _, v := range e.Pieces[i].asked.All() {
			if !es.holders(e, e.Pieces[i].bus+uint64(v.Lo), v.Hi-v.Lo, func(Place) bool { return true }) {
				return false
			}
		}
	}
	return true
}

// SurelyOf reports whether a read of a piece certainly belongs to a queue: entries of that queue
// name all of it, and no entry of another queue does.
func (es *Entries) SurelyOf(d *Read, queue int) bool {
	named := false
	return !es.places(d.Addr, func(h Place) bool {
		e := h.entry
		if e.Left || h.at+d.N > e.Pieces[h.piece].len || d.Issued < e.fetched || d.Issued > e.over {
			return false
		}
		named = named || e.Queue.ID == queue
		return e.Queue.ID != queue
	}) && named && len(d.dest) > 0
}

// uniform returns how many bytes from an address on, n at most, have the same pieces over them, and were filled in each
// of these pieces by one read.
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

// CutsLine reports whether a part of a range of n bytes begins or ends inside an aligned line that
// lies wholly in the range.
func CutsLine(base uint64, n, lo, hi int) bool {
	inside := func(at uint64) bool {
		line := at &^ (nicspec.LineBytes - 1)
		return at != line && line >= base && line+nicspec.LineBytes <= base+uint64(n)
	}
	return inside(base+uint64(lo)) || inside(base+uint64(hi))
}

// OtherDest reports whether another copy writes to n bytes at an address.
func (es *Entries) OtherDest(e *Entry, addr uint64, n int) bool {
	for node := es.Writable.First(addr); node != nil; node = es.Writable.Next(node) {
		if node.Owner.Kind == memory.Copy && !node.Owner.Entry.sameAs(e) && addr < node.Hi &&
			memory.End(addr, n) > node.Lo {
			return true
		}
	}
	return false
}

// cameSomewhere reports whether a copy can have read these bytes: each came from its place in the
// source, for this copy or another entry.
func (es *Entries) cameSomewhere(e *Entry, off int, b []byte) bool {
	for i := range b {
		if !es.places(e.Plan.Dma.Src+uint64(off+i), func(h Place) bool { return h.contains(b[i : i+1]) }) {
			return false
		}
	}
	return true
}

// overlap reports whether two ranges, n bytes at address a and m bytes at address b, share a byte whose offset from b
// is in the set `used`.
func overlap(a uint64, n int, b uint64, m int, used *memory.Set) bool {
	lo, hi := max(a, b), min(memory.End(a, n), memory.End(b, m))
	return n > 0 && m > 0 && lo < hi && !used.Free(int(lo-b), int(hi-b))
}

// overlaps reports whether the pieces of another entry overlap those of this one.
func (es *Entries) overlaps(e *Entry) bool {
	for i := range e.Count {
		for at, p := 0, &e.Pieces[i]; at < p.len; at++ {
			addr := p.bus + uint64(at)
			if es.holders(e, addr, 1, func(Place) bool { return true }) {
				return true
			}
			at += es.uniform(addr, p.len-at) - 1
		}
	}
	return false
}
