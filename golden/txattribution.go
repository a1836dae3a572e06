package golden

import "nictwin/models/nicspec"

// When several entries name the same memory, it cannot be seen which of them a
// read was for, until the device shows it: by a frame that leaves, or by a
// status. What follows exchanges reads of the same bytes between entries, so
// that what was attributed fits what was shown.

// reassign moves reads that were attributed to other entries to e, until e has all
// its bytes. It reports whether all are there.
func (r *Referee) reassign(e *txEntry) bool {
	for i := range e.count {
		p := &e.pieces[i]
		for n := range r.rd.tags {
			for k := range r.rd.tags[n].dest {
				if t := &r.rd.tags[n].dest[k]; t.entry == e && t.piece == i {
					if r.swapOpen(e, p, t, r.rd.tags[n].left); t.entry == e {
						r.moveOpen(t, r.rd.tags[n].left, 1)
					}
				}
			}
		}
		for at := p.asked.gap(p.len); at < p.len; at = p.asked.gap(p.len) {
			if !r.takeOver(e, i, at) {
				break
			}
		}
	}
	return e.gathered()
}

// holder is a piece of another entry, and where a range of bytes is in it.
type holder struct {
	entry *txEntry
	piece int
	at    int
}

// holders calls f for each piece of an entry but e that covers n bytes at an
// address, until f returns true: of those at work, and of those that are over.
func (r *Referee) holders(e *txEntry, addr uint64, n int, f func(holder) bool) bool {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && i != q.ctx.PI; i++ {
			o := q.slot(i).entry
			if o == nil {
				continue
			}
			if e != nil && o.queue == e.queue && o.index == e.index {
				continue
			}
			for ; o != nil; o = o.alt {
				if o.holds(addr, n, f) {
					return true
				}
			}
		}
	}
	for k := range r.tx.ghosts.Len() {
		if (*r.tx.ghosts.At(k)).holds(addr, n, f) {
			return true
		}
	}
	return false
}

// holds calls f for the pieces of one entry.
func (e *txEntry) holds(addr uint64, n int, f func(holder) bool) bool {
	if e.left {
		return false
	}
	for j := range e.count {
		p := &e.pieces[j]
		if addr >= p.bus && addr-p.bus < uint64(p.len) && int(addr-p.bus)+n <= p.len && f(holder{e, j, int(addr - p.bus)}) {
			return true
		}
	}
	return false
}

// shared reports whether what was read for an entry may have been read for
// another.
func (r *Referee) shared(e *txEntry) bool {
	for i := range e.count {
		for _, v := range e.pieces[i].asked.s {
			if !r.holders(e, e.pieces[i].bus+uint64(v.lo), v.hi-v.lo, func(holder) bool { return true }) {
				return false
			}
		}
	}
	return true
}

// swapOpen exchanges what is left of a read of e that is under way with bytes
// that another entry has.
func (r *Referee) swapOpen(e *txEntry, p *txPiece, t *pieceDest, left int) {
	lo := t.off - p.off
	r.holders(e, p.bus+uint64(lo), left, func(h holder) bool {
		w := &h.entry.pieces[h.piece]
		if !w.got.has(h.at, h.at+left) {
			return false
		}
		give(h, holder{e, t.piece, lo}, left)
		*t = pieceDest{h.entry, h.piece, w.off + h.at}
		e.reading--
		h.entry.reading++
		return true
	})
}

// takeOver gives e bytes from an offset of a piece on that it has not asked
// for and another entry has.
func (r *Referee) takeOver(e *txEntry, i, at int) bool {
	p := &e.pieces[i]
	return r.holders(e, p.bus+uint64(at), 1, func(h holder) bool {
		w := &h.entry.pieces[h.piece]
		n := 0
		for _, v := range w.got.s {
			if v.lo <= h.at && h.at < v.hi {
				n = min(v.hi-h.at, p.len-at)
			}
		}
		if n = min(n, p.asked.room(at)); n == 0 {
			return false
		}
		give(h, holder{e, i, at}, n)
		r.unask(h.entry, h.piece, h.at, h.at+n)
		r.wasAsked(e, i, at, at+n)
		return true
	})
}

// give moves n bytes that were read for one entry to another.
func give(from, to holder, n int) {
	p, w := &to.entry.pieces[to.piece], &from.entry.pieces[from.piece]
	to.entry.buf.take(p.off+to.at, &from.entry.buf, w.off+from.at, n)
	p.got.add(to.at, to.at+n)
	w.got.remove(from.at, from.at+n)
	from.entry.buf.drop(w.off+from.at, n)
	from.entry.finished = false
}

// wasAsked notes that bytes of a piece were read, whoever they were taken for.
func (r *Referee) wasAsked(e *txEntry, i, lo, hi int) {
	p := &e.pieces[i]
	p.asked.add(lo, hi)
	e.asked = true
	if p.open && p.asked.exactly(p.len) {
		r.read.remove(p.bus, p.len, e.owner(i))
		p.open = false
	}
}

// unask lets bytes of a piece be read again.
func (r *Referee) unask(e *txEntry, i, lo, hi int) {
	p := &e.pieces[i]
	p.asked.remove(lo, hi)
	if !p.open && !e.ghost && !e.never {
		r.read.add(p.bus, p.len, e.owner(i))
		p.open = true
	}
}

// cure hands the failed reads of an entry to others, which have the same bytes
// or may still read them. It reports whether none is left.
func (r *Referee) cure(e *txEntry) bool {
	for i := range e.count {
		p := &e.pieces[i]
		for k := len(p.bad) - 1; k >= 0; k-- {
			b := p.bad[k]
			if !r.holders(e, p.bus+uint64(b.lo), b.hi-b.lo, func(h holder) bool { return r.moveBad(e, i, k, h) }) {
				return false
			}
		}
	}
	if e.plan.Send {
		r.reassign(e)
	}
	return e.fails == 0
}

// infect gives e a failed read with a status from another entry.
func (r *Referee) infect(e *txEntry, s nicspec.Status) bool {
	if s < nicspec.StatusCplUnsupported || !e.works() {
		return false
	}
	if s == nicspec.StatusCplTimeout && r.catchLate(e) {
		return true
	}
	for _, swap := range [...]bool{false, true} {
		for i := range e.count {
			if r.others(e, func(o *txEntry) bool { return !o.left && r.catch(e, i, o, s, swap) }) {
				return true
			}
		}
	}
	return false
}

// catchLate gives e a read that may have timed out by now, in exchange for the
// bytes.
func (r *Referee) catchLate(e *txEntry) bool {
	for n := range r.rd.tags {
		d := &r.rd.tags[n]
		t := &d.dest[0]
		o := t.entry
		if !d.open || o == nil || o == e || r.now < d.issued+d.tLo {
			continue
		}
		w := &o.pieces[t.piece]
		addr := w.bus + uint64(t.off-w.off)
		for i := range e.count {
			p := &e.pieces[i]
			at := int(addr - p.bus)
			switch {
			case addr < p.bus || at+d.left > p.len:
				continue
			case p.got.has(at, at+d.left):
				give(holder{e, i, at}, holder{o, t.piece, t.off - w.off}, d.left)
			case p.asked.free(at, at+d.left):
				r.unask(o, t.piece, t.off-w.off, t.off-w.off+d.left)
				r.wasAsked(e, i, at, at+d.left)
			default:
				continue
			}
			*t = pieceDest{e, i, p.off + at}
			o.reading--
			e.reading++
			return true
		}
	}
	return false
}

// infectAny is infect with whatever status there is.
func (r *Referee) infectAny(e *txEntry) bool {
	for s := nicspec.StatusCplUnsupported; s <= nicspec.StatusCplMalformed; s++ {
		if r.infect(e, s) {
			return true
		}
	}
	return false
}

// catch moves a failed read with a status from o to piece i of e: to bytes
// that it has not asked for or, with swap, in exchange for bytes that it has.
func (r *Referee) catch(e *txEntry, i int, o *txEntry, s nicspec.Status, swap bool) bool {
	p := &e.pieces[i]
	for j := range o.count {
		w := &o.pieces[j]
		for k := range w.bad {
			b := w.bad[k]
			addr := w.bus + uint64(b.lo)
			if b.status == s && addr >= p.bus && addr-p.bus+uint64(b.hi-b.lo) <= uint64(p.len) &&
				(swap || p.asked.free(int(addr-p.bus), int(addr-p.bus)+b.hi-b.lo)) && r.moveBad(o, j, k, holder{e, i, int(addr - p.bus)}) {
				return true
			}
		}
	}
	return false
}

// moveBad moves a failed read from a piece of e to another entry, in exchange
// for the bytes if that one has them, or for its read of them.
func (r *Referee) moveBad(e *txEntry, i, k int, h holder) bool {
	p, w := &e.pieces[i], &h.entry.pieces[h.piece]
	b := p.bad[k]
	n := b.hi - b.lo
	switch {
	case w.got.has(h.at, h.at+n):
		give(h, holder{e, i, b.lo}, n)
	case w.asked.free(h.at, h.at+n):
		r.unask(e, i, b.lo, b.hi)
		r.wasAsked(h.entry, h.piece, h.at, h.at+n)
	case !r.takeOpen(h, n, holder{e, i, b.lo}):
		return false
	}
	p.bad = append(p.bad[:k], p.bad[k+1:]...)
	w.bad = append(w.bad, badPart{h.at, h.at + n, b.status})
	e.recount()
	h.entry.recount()
	return true
}

// ghostRead takes a read for which no entry at work has a place: one that is
// over has one if a read that was its own was attributed to another.
func (r *Referee) ghostRead(d *readReq) bool {
	for k := range r.tx.ghosts.Len() {
		g := *r.tx.ghosts.At(k)
		found := g.holds(d.addr, d.n, func(h holder) bool {
			if !g.pieces[h.piece].asked.free(h.at, h.at+d.n) {
				return false
			}
			r.ghostPiece(h, d)
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// ghostPiece takes a read of a piece of an entry that is over.
func (r *Referee) ghostPiece(h holder, d *readReq) {
	q := h.entry.queue
	d.stray, d.kind, d.queue, d.epoch = false, ownsPiece, uint16(q.id), q.epoch
	r.ask(h.entry, h.piece, d, &d.dest[0])
	r.past.note(q.domain(), &r.x)
}

// recount finds out by which statuses an entry fails.
func (e *txEntry) recount() {
	e.fails = 0
	for i := range e.pieces {
		for _, b := range e.pieces[i].bad {
			e.fails |= statusBit(b.status)
		}
	}
}
