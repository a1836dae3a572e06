package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/nic/nicspec"
)

// storeBytes stores bytes that a read has brought for a piece.
func (e *Entry) storeBytes(t *dest, at int, b []byte) {
	p := &e.Pieces[t.piece]
	if p.Got.Add(at, at+len(b)) {
		e.Buf.Put(p.off+at, b)
	}
}

// recordFailure records that a read of a piece failed, or may have.
func (e *Entry) recordFailure(d *Read, t *dest, s nicspec.Status, sure bool) {
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
		p.Got.Remove(from, to) // a read's bytes are used only when all have come [P5]
		e.Buf.Drop(p.off+from, to-from)
	}
	if lo < t.hi {
		p.bad = append(p.bad, badPart{lo, t.hi, s})
	}
}

// hasShare reports whether a read of bytes between lo and hi may belong to another entry or piece instead.
func (p *Piece) hasShare(lo, hi int) bool {
	for _, s := range p.shares {
		if s.lo < hi && lo < s.hi {
			return true
		}
	}
	return false
}

// Consume drops bytes lo to hi of a copy's source, which the copy has written to its destination, except bytes of reads
// that may belong to other entries.
func (e *Entry) Consume(lo, hi int) {
	p := &e.Pieces[0]
	for at := lo; at < hi && !p.Got.Empty(); {
		from, to := p.Got.Within(at, hi)
		if at = to; from >= to || p.hasShare(from, to) {
			continue
		}
		p.Got.Remove(from, to)
		e.Buf.Drop(from, to-from)
	}
}

// Piece is one piece of a frame, or the source of a copy.
type Piece struct {
	bus    uint64
	len    int
	off    int        // offset in the frame
	asked  memory.Set // bytes that the device has requested
	Got    memory.Set // bytes whose data has come
	bad    []badPart  // requested ranges of the piece whose reads failed
	open   bool       // the device may read the piece
	shares []share    // requested ranges whose reads may belong to other entries or pieces instead
}

// badPart is a range of a piece whose read failed.
type badPart struct {
	lo, hi int
	status nicspec.Status
}

// share is a read, or a part of one, that may belong to another place; the cycle of its request identifies it.
// Requested bytes without a share certainly belong to this piece.
type share struct {
	lo, hi int // range in the piece
	issued int64
	tag    uint8
}

// share records a read that may belong to another place, merging it with an adjacent part of the same read.
func (p *Piece) share(lo, hi int, issued int64, tag uint8) {
	if lo >= hi {
		return
	}
	for i := range p.shares {
		s := &p.shares[i]
		if s.issued == issued && s.hi == lo {
			s.hi = hi
			return
		}
		if s.issued == issued && s.lo == hi {
			s.lo = lo
			return
		}
	}
	p.shares = append(p.shares, share{lo, hi, issued, tag})
}

// cutBad removes a range from the failed parts.
func (p *Piece) cutBad(lo, hi int) {
	for k := len(p.bad) - 1; k >= 0; k-- {
		b := p.bad[k]
		if a, z := max(lo, b.lo), min(hi, b.hi); a < z {
			p.bad = append(p.bad[:k], p.bad[k+1:]...)
			if b.lo < a {
				p.bad = append(p.bad, badPart{b.lo, a, b.status})
			}
			if z < b.hi {
				p.bad = append(p.bad, badPart{z, b.hi, b.status})
			}
		}
	}
}

// send adds a destination for bytes of a read.
func (d *Read) send(t dest) {
	d.dest = append(d.dest, t)
	t.Entry.reading++
}

// release removes a range of a piece from a read's destinations.
func (d *Read) release(e *Entry, piece, lo, hi int) {
	for k := len(d.dest) - 1; k >= 0; k-- {
		t := d.dest[k]
		a, b := max(lo, t.lo), min(hi, t.hi)
		if t.Entry != e || t.piece != piece || a >= b {
			continue
		}
		d.dest = append(d.dest[:k], d.dest[k+1:]...)
		e.reading--
		if t.lo < a {
			d.send(dest{e, piece, t.from, t.lo, a})
		}
		if b < t.hi {
			d.send(dest{e, piece, t.from + b - t.lo, b, t.hi})
		}
	}
}

// dest is a destination of a read's bytes: a range of a piece, and the offset in the read where its bytes begin.
type dest struct {
	Entry  *Entry
	piece  int
	from   int // offset in the read
	lo, hi int // range in the piece
}
