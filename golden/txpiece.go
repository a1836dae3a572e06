package golden

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// pieceChoice is the piece that a read most likely belongs to, when several
// entries name the same memory.
type pieceChoice struct {
	entry *txEntry
	piece int
	score int
}

// consider weighs one piece: requests mostly go on where the one before ended,
// and end at the end of the piece or where a split is due.
func (c *pieceChoice) consider(es *Entries, node *memory.Range[txEntry], d *readReq, mrrs int) {
	e, i := node.Owner.Entry, int(node.Owner.Part)
	p := &e.pieces[i]
	off := int(d.addr - p.bus)
	if !e.reads(i) || !p.asked.Free(off, off+d.n) {
		return
	}
	score := 1
	if off == p.asked.End() {
		score += 20
	}
	if off > 0 { // it is being read
		score++
	}
	if e.askedBefore(i) {
		score += 2
	}
	page := tlp.PageBytes - int(d.addr&(tlp.PageBytes-1))
	if off+d.n == p.len || d.n == page || d.n > mrrs-tlp.DWBytes {
		score += 2
	}
	if e.works() { // what is to fail may have been read as well, but need not
		score += 16
	}
	if es.before(e) == nil { // none keeps it from starting
		score += 64
	}
	q := e.queue
	if q.slot(e.index).entry == e { // its first reading
		score += 8
	}
	if e.index == q.oldest || q.slot(q.oldest).entry != nil && q.slot(e.index-1).ownerOf() != nil { // not before its time
		score += 32
	}
	sooner := c.entry != nil && c.entry.queue == q && score == c.score && int16(e.index-c.entry.index) < 0
	if score > c.score || sooner {
		c.entry, c.piece, c.score = e, i, score
	}
}

// askedBefore reports whether the pieces before one have been asked for.
func (e *txEntry) askedBefore(piece int) bool {
	for i := range piece {
		if p := &e.pieces[i]; !p.asked.Exactly(p.len) {
			return false
		}
	}
	return true
}

// askAlso notes a read for another reading of its entry, if it fits.
func (es *Entries) askAlso(e *txEntry, d *readReq) {
	for i := range e.count {
		p := &e.pieces[i]
		off := int(d.addr - p.bus)
		if d.addr >= p.bus && off+d.n <= p.len && p.asked.Free(off, off+d.n) {
			es.ask(e, i, d)
			return
		}
	}
}

// ask notes that bytes of a piece are being read.
func (es *Entries) ask(e *txEntry, piece int, d *readReq) {
	p := &e.pieces[piece]
	off := int(d.addr - p.bus)
	p.asked.Add(off, off+d.n)
	if d.shared {
		p.share(off, off+d.n, d.issued, d.tag)
	}
	d.send(pieceDest{e, piece, 0, off, off + d.n})
	e.asked = true
}

// bring stores what a read of a piece brought.
func (e *txEntry) bring(t *pieceDest, at int, b []byte) {
	p := &e.pieces[t.piece]
	if p.got.Add(at, at+len(b)) {
		e.buf.Put(p.off+at, b)
	}
}

// failing notes that a read of a piece failed, or may have.
func (e *txEntry) failing(d *readReq, t *pieceDest, s nicspec.Status, sure bool) {
	if !sure {
		e.possible |= statusBit(s)
		return
	}
	e.fails |= statusBit(s)
	p, lo := &e.pieces[t.piece], t.lo
	if !d.shared {
		lo = max(lo, t.lo+d.n-d.left-t.from)
	}
	for from, to := p.got.Within(lo, t.hi); from < to; from, to = p.got.Within(lo, t.hi) {
		p.got.Remove(from, to) // bytes of a read are used when all have come [P5]
		e.buf.Drop(p.off+from, to-from)
	}
	if lo < t.hi {
		p.bad = append(p.bad, badPart{lo, t.hi, s})
	}
}
