package golden

// makeRoom takes a read for which every place is taken: what was attributed to
// one of them may have been for another entry with the same memory, which goes
// on there.
func (r *Referee) makeRoom(d *readReq) bool {
	return r.holders(nil, d.addr, d.n, func(h holder) bool {
		if !r.vacate(h, d.n, 1) {
			return false
		}
		if h.entry.ghost {
			r.ghostPiece(h, d)
		} else {
			r.pieceRead(h.entry, h.piece, d)
		}
		return true
	})
}

// vacate gives the reads of n bytes of a place to other entries that can have
// made them, where depth more entries may have to make room in turn. It reports
// whether the place is free then.
func (r *Referee) vacate(h holder, n, depth int) bool {
	p, hi := &h.entry.pieces[h.piece], h.at+n
	for i := range r.rd.tags {
		for k := range r.rd.tags[i].dest {
			t := &r.rd.tags[i].dest[k]
			if lo := t.off - p.off; t.entry == h.entry && t.piece == h.piece && lo < hi && lo+r.rd.tags[i].left > h.at {
				r.moveOpen(t, r.rd.tags[i].left, depth)
			}
		}
	}
	for k := len(p.bad) - 1; k >= 0; k-- {
		if b := p.bad[k]; b.lo < hi && b.hi > h.at {
			r.holders(h.entry, p.bus+uint64(b.lo), b.hi-b.lo, func(o holder) bool {
				return r.roomFor(o, b.hi-b.lo, depth) && r.moveBad(h.entry, h.piece, k, o)
			})
		}
	}
	for lo, end := p.got.within(h.at, hi); lo < end; lo, end = p.got.within(h.at, hi) {
		if !r.moveGot(h, lo, end, depth) {
			break
		}
	}
	return p.asked.free(h.at, hi)
}

// roomFor reports whether n bytes of a place were not asked for, or no longer
// are.
func (r *Referee) roomFor(h holder, n, depth int) bool {
	return h.entry.pieces[h.piece].asked.free(h.at, h.at+n) || depth > 0 && r.vacate(h, n, depth-1)
}

// moveOpen gives what is left of a read that is under way to another entry.
func (r *Referee) moveOpen(t *pieceDest, left, depth int) {
	e, i := t.entry, t.piece
	p := &e.pieces[i]
	lo := t.off - p.off
	r.holders(e, p.bus+uint64(lo), left, func(o holder) bool {
		if !r.roomFor(o, left, depth) {
			return false
		}
		r.unask(e, i, lo, lo+left)
		r.wasAsked(o.entry, o.piece, o.at, o.at+left)
		*t = pieceDest{o.entry, o.piece, o.entry.pieces[o.piece].off + o.at}
		e.reading--
		o.entry.reading++
		return true
	})
}

// moveGot gives bytes that a place has to another entry.
func (r *Referee) moveGot(h holder, lo, hi, depth int) bool {
	e, p := h.entry, &h.entry.pieces[h.piece]
	return r.holders(e, p.bus+uint64(lo), hi-lo, func(o holder) bool {
		if !r.roomFor(o, hi-lo, depth) {
			return false
		}
		give(holder{e, h.piece, lo}, o, hi-lo)
		r.unask(e, h.piece, lo, hi)
		r.wasAsked(o.entry, o.piece, o.at, o.at+hi-lo)
		return true
	})
}

// takeOpen gives the read under way that is to bring n bytes of a place, with
// what it has brought of them, to another place, if there is one.
func (r *Referee) takeOpen(h holder, n int, to holder) bool {
	w, p := &h.entry.pieces[h.piece], &to.entry.pieces[to.piece]
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		came := n - d.left
		for k := range d.dest {
			t := &d.dest[k]
			if !d.open || came < 0 || t.entry != h.entry || t.piece != h.piece || t.off != w.off+h.at+came ||
				came > 0 && !w.got.has(h.at, h.at+came) {
				continue
			}
			if came > 0 {
				give(h, to, came)
			}
			h.entry.reading--
			to.entry.reading++
			*t = pieceDest{to.entry, to.piece, p.off + to.at + came}
			return true
		}
	}
	return false
}

// trade exchanges bytes of a gathered frame with those that others got from the
// same addresses, where those are in the frame that left: memory that is written
// meanwhile gives each read bytes of its own. It reports whether it changed any.
func (r *Referee) trade(e *txEntry, data []byte) (changed bool) {
	if e.fails != 0 || !e.gathered() {
		return false
	}
	misses := 0
	for i := range e.plan.NumPieces {
		p := &e.pieces[i]
		for at := 0; at < p.len && misses <= offloaded; at++ {
			k := p.off + at
			if e.buf.flat[k] == data[k] {
				continue
			}
			swap := func(h holder) bool {
				if own := h.entry.pieces[h.piece].off + h.at; h.entry == e && e.buf.flat[own] == data[own] {
					return false // in its place
				}
				return h.exchange(e.buf.flat[k:p.off+p.len], data[k:])
			}
			if r.holders(nil, p.bus+uint64(at), 1, swap) {
				changed = true
			} else {
				misses++
			}
		}
	}
	e.finished = e.finished && !changed
	return changed
}

// offloaded is how many bytes of a frame offloads write: two checksums, the
// ICRC, a CRC-32C and the ECN bits. They need not be what was read.
const offloaded = 13

// exchange swaps the bytes that a place got with others as long as they differ
// from want and the place's do not. It reports whether there were any.
func (h holder) exchange(b, want []byte) bool {
	p := &h.entry.pieces[h.piece]
	n := 0
	for ; n < len(b) && h.at+n < p.len && p.got.has(h.at+n, h.at+n+1); n++ {
		own := &h.entry.buf.part(p.off+h.at+n, 1)[0]
		if b[n] == want[n] || *own != want[n] {
			break
		}
		b[n], *own = *own, b[n]
	}
	if n > 0 {
		h.entry.finished = false
	}
	return n > 0
}
