package attribution

import "nictwin/models/nic/nicspec"

// contentKind classifies what fills a place, one byte of a piece.
type contentKind uint8

const (
	isFree  contentKind = iota // no read fills it
	isOpen                     // a read is outstanding
	isGot                      // the place's byte has come
	isBad                      // the place's read failed
	isFixed                    // the place's read cannot belong to another place, or its bytes have left the device
)

// content describes the read that fills a place.
type content struct {
	kind   contentKind
	came   bool  // for kind isOpen: data for this place has come, although the read is still outstanding
	n      int   // number of bytes, from the place on, to which this description applies
	issued int64 // cycle of the request
	tag    uint8
	status nicspec.Status // with isBad: status of the failure
}

// content describes what fills a place (one byte of a piece). Its n, at most the argument, counts the bytes
// from there on that are filled alike.
func (es *Entries) content(h Place, n int) content {
	p := &h.entry.Pieces[h.piece]
	c := content{n: min(n, p.len-h.at)}
	if room := p.asked.Room(h.at); room > 0 {
		c.n = min(c.n, room)
		return c
	}
	c.kind = isFixed
	c.n = min(c.n, p.asked.Next(h.at)-h.at)
	for i := range p.shares {
		s := &p.shares[i]
		if s.lo > h.at {
			c.n = min(c.n, s.lo-h.at)
		} else if h.at < s.hi {
			c.issued, c.tag = s.issued, s.tag
			c.n = min(c.n, s.hi-h.at)
			es.inShare(p, h.at, &c)
			return c
		}
	}
	return c
}

// inShare sets the kind of content at a place whose read may belong to another place, from the state of that read.
func (es *Entries) inShare(p *Piece, at int, c *content) {
	for i := range p.bad {
		if b := &p.bad[i]; b.lo <= at && at < b.hi {
			c.kind, c.status, c.n = isBad, b.status, min(c.n, b.hi-at)
			return
		} else if b.lo > at {
			c.n = min(c.n, b.lo-at)
		}
	}
	came := false
	if lo, hi := p.Got.Within(at, at+c.n); lo < hi {
		if came = lo == at; came {
			c.n = min(c.n, hi-at)
		} else {
			c.n = lo - at
		}
	}
	if d := &es.Out.Tags[c.tag]; d.Open && !d.Stray && d.Issued == c.issued {
		c.kind, c.came = isOpen, came
	} else if came {
		c.kind = isGot
	}
}

// movable reports whether the read that fills a place may move to another place, with the bytes that it brought. An
// entry that ended by a failed read must keep one read that failed with that status.
func (es *Entries) movable(h Place, c *content) bool {
	e := h.entry
	if c.kind == isFixed {
		return false
	}
	if c.kind != isBad || !e.retired || c.status != e.ended {
		return true
	}
	for i := range e.Count {
		for _, b := range e.Pieces[i].bad {
			if b.status == c.status && (i != h.piece || b.lo < h.at || b.hi > h.at+c.n) {
				return true
			}
		}
	}
	return false
}

// bytesOf appends the bytes that came to a place.
func (es *Entries) bytesOf(h Place, c *content, to []byte) []byte {
	if c.kind != isGot && !c.came {
		return to
	}
	p := &h.entry.Pieces[h.piece]
	for n := 0; n < c.n; {
		b := h.entry.Buf.Part(p.off+h.at+n, c.n-n)
		to = append(to, b...)
		n += len(b)
	}
	return to
}

// moves is the undo log of a search.
type moves struct {
	s    []moved
	data []byte
}

// moved is one entry of the log: content that was taken from a place, or given to it.
type moved struct {
	h      Place
	c      content
	lo, hi int // range of the moved bytes in moves.data
	given  bool
}

func (m *moves) mark() int { return len(m.s) }

// take removes the read that filled a place (bytes of a work entry) and logs that read, so that `give` can fill
// another place with it.
func (es *Entries) take(h Place, c *content) {
	m := &es.moves
	lo := len(m.data)
	m.data = es.bytesOf(h, c, m.data)
	m.s = append(m.s, moved{h: h, c: *c, lo: lo, hi: len(m.data)})
	es.lift(h, c)
}

// give fills another place with a read that a call of `take` has logged. A read just requested is not in the log: it
// has no bytes yet.
func (es *Entries) give(h Place, c *content) {
	m := &es.moves
	v := moved{h: h, c: *c, given: true}
	for i := len(m.s) - 1; i >= 0; i-- {
		if o := &m.s[i]; !o.given && o.c.issued == c.issued && o.h.addr() == h.addr() {
			v.lo, v.hi = o.lo, o.hi
			break
		}
	}
	m.s = append(m.s, v)
	es.occupy(h, c, m.data[v.lo:v.hi])
}

// undo reverts the changes that a search has made since `mark`.
func (es *Entries) undo(mark int) {
	m := &es.moves
	for len(m.s) > mark {
		v := m.s[len(m.s)-1]
		m.s = m.s[:len(m.s)-1]
		if v.given {
			es.lift(v.h, &v.c)
		} else {
			es.occupy(v.h, &v.c, m.data[v.lo:v.hi])
		}
	}
}

// lift empties a place in all readings (Entry.Alt) of its entry.
func (es *Entries) lift(h Place, c *content) {
	if c.kind == isFree {
		return
	}
	addr := h.addr()
	h.entry.readings(func(x *Entry) {
		for i := range x.Count {
			p := &x.Pieces[i]
			if x == h.entry && i != h.piece {
				continue
			}
			if lo, hi := max(addr, p.bus), min(addr+uint64(c.n), p.bus+uint64(p.len)); lo < hi {
				es.clearShare(x, i, int(lo-p.bus), int(hi-p.bus), c.issued)
			}
		}
	})
}

// clearShare empties the part of a piece that a read filled.
func (es *Entries) clearShare(x *Entry, i, lo, hi int, issued int64) {
	p := &x.Pieces[i]
	for k := len(p.shares) - 1; k >= 0; k-- {
		s := p.shares[k]
		a, b := max(lo, s.lo), min(hi, s.hi)
		if s.issued != issued || a >= b {
			continue
		}
		p.shares = append(p.shares[:k], p.shares[k+1:]...)
		p.share(s.lo, a, s.issued, s.tag)
		p.share(b, s.hi, s.issued, s.tag)
		p.cutBad(a, b)
		for from, to := p.Got.Within(a, b); from < to; from, to = p.Got.Within(a, b) {
			p.Got.Remove(from, to)
			x.Buf.Drop(p.off+from, to-from)
		}
		for from, to := p.asked.Within(a, b); from < to; from, to = p.asked.Within(a, b) {
			p.asked.Remove(from, to)
		}
		if d := &es.Out.Tags[s.tag]; d.Open && d.Issued == issued {
			d.release(x, i, a, b)
		}
	}
	x.finished = false
	x.recount()
}

// occupy fills a free place, in all readings (Entry.Alt) of its entry that have room for it.
func (es *Entries) occupy(h Place, c *content, data []byte) {
	if c.kind == isFree {
		return
	}
	es.fill(h, c, data)
	addr := h.addr()
	h.entry.readings(func(x *Entry) {
		for i := range x.Count {
			p := &x.Pieces[i]
			if x != h.entry && addr >= p.bus && addr+uint64(c.n) <= p.bus+uint64(p.len) &&
				p.asked.Free(int(addr-p.bus), int(addr-p.bus)+c.n) {
				es.fill(Place{x, i, int(addr - p.bus)}, c, data)
				return
			}
		}
	})
}

func (es *Entries) fill(h Place, c *content, data []byte) {
	e, p, hi := h.entry, &h.entry.Pieces[h.piece], h.at+c.n
	p.asked.Add(h.at, hi)
	p.share(h.at, hi, c.issued, c.tag)
	e.Asked = true
	if (c.kind == isGot || c.came) && p.Got.Add(h.at, hi) {
		e.Buf.Put(p.off+h.at, data)
		e.finished = false
	}
	switch c.kind {
	case isBad:
		p.bad = append(p.bad, badPart{h.at, hi, c.status})
		e.recount()
	case isOpen:
		d := &es.Out.Tags[c.tag]
		d.send(dest{Entry: e, piece: h.piece, from: int(h.addr() - d.Addr), lo: h.at, hi: hi})
	}
}
