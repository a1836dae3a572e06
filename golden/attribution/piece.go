package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// PieceChoice is the piece that a read most likely belongs to, when several
// entries name the same memory.
type PieceChoice struct {
	Entry *Entry
	Piece int
	score int
}

// Consider weighs one piece: requests mostly go on where the one before ended,
// and end at the end of the piece or where a split is due.
func (c *PieceChoice) Consider(es *Entries, node *memory.Range[Entry], d *Read, mrrs int) {
	e, i := node.Owner.Entry, int(node.Owner.Part)
	p := &e.Pieces[i]
	off := int(d.Addr - p.bus)
	if !e.reads(i) || !p.asked.Free(off, off+d.N) {
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
	page := tlp.PageBytes - int(d.Addr&(tlp.PageBytes-1))
	if off+d.N == p.len || d.N == page || d.N > mrrs-tlp.DWBytes {
		score += 2
	}
	if e.Works() { // what is to fail may have been read as well, but need not
		score += 16
	}
	if es.Before(e) == nil { // none keeps it from starting
		score += 64
	}
	q := e.Queue
	if q.Slot(e.Index).Entry == e { // its first reading
		score += 8
	}
	if e.Index == q.Oldest || q.Slot(q.Oldest).Entry != nil && q.Slot(e.Index-1).OwnerOf() != nil { // not before its time
		score += 32
	}
	sooner := c.Entry != nil && c.Entry.Queue == q && score == c.score && int16(e.Index-c.Entry.Index) < 0
	if score > c.score || sooner {
		c.Entry, c.Piece, c.score = e, i, score
	}
}

// askedBefore reports whether the pieces before one have been asked for.
func (e *Entry) askedBefore(piece int) bool {
	for i := range piece {
		if p := &e.Pieces[i]; !p.asked.Exactly(p.len) {
			return false
		}
	}
	return true
}

// AskAlso notes a read for another reading of its entry, if it fits.
func (es *Entries) AskAlso(e *Entry, d *Read) {
	for i := range e.Count {
		p := &e.Pieces[i]
		off := int(d.Addr - p.bus)
		if d.Addr >= p.bus && off+d.N <= p.len && p.asked.Free(off, off+d.N) {
			es.Ask(e, i, d)
			return
		}
	}
}

// Ask notes that bytes of a piece are being read.
func (es *Entries) Ask(e *Entry, piece int, d *Read) {
	p := &e.Pieces[piece]
	off := int(d.Addr - p.bus)
	p.asked.Add(off, off+d.N)
	if d.Shared {
		p.share(off, off+d.N, d.Issued, d.Tag)
	}
	d.send(pieceDest{e, piece, 0, off, off + d.N})
	e.Asked = true
}

// bring stores what a read of a piece brought.
func (e *Entry) bring(t *pieceDest, at int, b []byte) {
	p := &e.Pieces[t.piece]
	if p.Got.Add(at, at+len(b)) {
		e.Buf.Put(p.off+at, b)
	}
}

// Failing notes that a read of a piece failed, or may have.
func (e *Entry) Failing(d *Read, t *pieceDest, s nicspec.Status, sure bool) {
	if !sure {
		e.possible |= StatusSet(s)
		return
	}
	e.Fails |= StatusSet(s)
	p, lo := &e.Pieces[t.piece], t.lo
	if !d.Shared {
		lo = max(lo, t.lo+d.N-d.Left-t.from)
	}
	for from, to := p.Got.Within(lo, t.hi); from < to; from, to = p.Got.Within(lo, t.hi) {
		p.Got.Remove(from, to) // bytes of a read are used when all have come [P5]
		e.Buf.Drop(p.off+from, to-from)
	}
	if lo < t.hi {
		p.bad = append(p.bad, badPart{lo, t.hi, s})
	}
}
