package golden

import (
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// unreachable says that the device will not start an entry.
func (r *Referee) unreachable(e *txEntry) {
	for ; e != nil; e = e.alt {
		e.never = true
		r.withhold(e)
	}
}

// withhold ends what the device may read for an entry.
func (r *Referee) withhold(e *txEntry) {
	for i := range e.count {
		if s := &e.pieces[i]; s.open {
			r.read.remove(s.bus, s.len, e.owner(i))
			s.open = false
		}
	}
}

// pieceChoice is the piece that a read most likely belongs to, when several
// entries name the same memory.
type pieceChoice struct {
	entry *txEntry
	piece int
	score int
}

// consider weighs one piece: requests mostly go on where the one before ended,
// and end at the end of the piece or where a split is due.
// turn says that no entry before it keeps this one from starting.
func (c *pieceChoice) consider(node *pageNode, d *readReq, mrrs int, turn bool) {
	e, i := node.owner.entry, int(node.owner.part)
	p := &e.pieces[i]
	off := int(d.addr - p.bus)
	if !p.asked.free(off, off+d.n) {
		return
	}
	score := 1
	if off == p.asked.end() {
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
	if turn {
		score += 64
	}
	q := e.queue
	if q.slot(e.index).entry == e { // its first reading
		score += 8
	}
	if e.index == q.oldest || q.slot(q.oldest).entry != nil && q.slot(e.index-1).entry != nil { // not before its time
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
		if e.pieces[i].open {
			return false
		}
	}
	return true
}

// pieceRead takes a read of a piece.
func (r *Referee) pieceRead(e *txEntry, piece int, d *readReq) {
	d.stray, d.kind, d.queue, d.epoch = false, ownsPiece, uint16(e.queue.id), e.queue.epoch
	r.ask(e, piece, d, &d.dest[0])
	r.past.note(e.queue.domain(), &r.x)
	r.inTurn(e, d)
	r.pushedEarly(e, "a read")
	first := e.queue.slot(e.index).entry
	if first == e && e.alt == nil {
		return
	}
	k := 1
	for other := first; other != nil && k < maxReadings; other = other.alt {
		if other != e && r.askAlso(other, d, &d.dest[k]) {
			k++
		}
	}
}

// askAlso notes a read for another reading of its entry, if it fits.
func (r *Referee) askAlso(e *txEntry, d *readReq, to *pieceDest) bool {
	for i := range e.count {
		p := &e.pieces[i]
		off := int(d.addr - p.bus)
		if d.addr >= p.bus && off+d.n <= p.len && p.asked.free(off, off+d.n) {
			r.ask(e, i, d, to)
			return true
		}
	}
	return false
}

// ask notes that bytes of a piece are being read.
func (r *Referee) ask(e *txEntry, piece int, d *readReq, to *pieceDest) {
	p := &e.pieces[piece]
	off := int(d.addr - p.bus)
	p.asked.add(off, off+d.n)
	if p.asked.exactly(p.len) {
		r.read.remove(p.bus, p.len, e.owner(piece))
		p.open = false
	}
	*to = pieceDest{e, piece, p.off + off}
	e.reading++
	e.asked = true
}

// bring stores what a read of a piece brought.
func (e *txEntry) bring(t *pieceDest, b []byte) {
	p := &e.pieces[t.piece]
	if p.got.add(t.off-p.off, t.off-p.off+len(b)) {
		e.buf.put(t.off, b)
	}
	t.off += len(b)
}

// failing notes that a read of a piece failed, or may have.
func (e *txEntry) failing(t *pieceDest, left int, s nicspec.Status, sure bool) {
	if sure {
		e.fails |= statusBit(s)
		p := &e.pieces[t.piece]
		p.bad = append(p.bad, badPart{t.off - p.off, t.off - p.off + left, s})
	} else {
		e.maybe |= statusBit(s)
	}
}
