package golden

import "nictwin/models/nicspec"

// Copies that name the same memory cannot be told apart by a read, or a write,
// alone: what follows exchanges what was attributed, as txattribution.go does for
// Sends, so that it fits what was shown.

// settles reports whether a copy may write these bytes once reads have been
// exchanged with other entries, and exchanges them.
func (e *txEntry) settles(r *Referee, addr uint64, b []byte) bool {
	off := int(addr - e.plan.Dma.Dst)
	if e.fits(off, b) {
		return true
	}
	if !e.copy.wrote.free(off, off+len(b)) {
		return false
	}
	r.fetchFor(e, off, off+len(b))
	if !e.pieces[0].got.has(off, off+len(b)) {
		return false
	}
	for at := e.buf.differs(off, b); at < len(b); at = e.buf.differs(off, b) {
		own, want := e.buf.part(off+at, len(b)-at), b[at:]
		swap := func(h holder) bool { return h.exchange(own, want) }
		if !r.holders(e, e.plan.Dma.Src+uint64(off+at), 1, swap) {
			return false
		}
	}
	return true
}

// settling finds a copy that may write these bytes once reads have been
// exchanged.
func (r *Referee) settling(addr uint64, b []byte) *txEntry {
	for id := r.wr.first(addr); id != noNode; id = r.wr.nodes[id].next {
		node := &r.wr.nodes[id]
		if node.owner.kind == ownsCopy && addr >= node.lo && end(addr, len(b)) <= node.hi && node.owner.entry.settles(r, addr, b) {
			return node.owner.entry
		}
	}
	return nil
}

// fetchFor gets a copy bytes that it lacks from reads attributed to others.
func (r *Referee) fetchFor(e *txEntry, lo, hi int) {
	p := &e.pieces[0]
	for i := range r.rd.tags {
		for k := range r.rd.tags[i].dest {
			if t := &r.rd.tags[i].dest[k]; t.entry == e && t.off < hi && t.off+r.rd.tags[i].left > lo {
				r.swapOpen(e, p, t, r.rd.tags[i].left)
			}
		}
	}
	for k := len(p.bad) - 1; k >= 0; k-- {
		if b := p.bad[k]; b.lo < hi && b.hi > lo {
			r.holders(e, p.bus+uint64(b.lo), b.hi-b.lo, func(h holder) bool { return r.moveBad(e, 0, k, h) })
		}
	}
	for at := p.asked.next(lo); at < hi; at = p.asked.next(at) {
		if !r.takeOver(e, 0, at) {
			return
		}
	}
}

// misled reports whether reads or writes attributed to others may have been
// those of an entry, which may have ended by them.
func (r *Referee) misled(e *txEntry) bool {
	return r.others(e, func(o *txEntry) bool {
		for i := range e.count {
			for k := range o.count {
				if overlap(e.pieces[i].bus, e.pieces[i].len, o.pieces[k].bus, o.pieces[k].len, &o.pieces[k].asked) {
					return true
				}
			}
		}
		return e.plan.Copy && o.plan.Copy && overlap(e.plan.Dma.Dst, e.plan.Dma.Len, o.plan.Dma.Dst, o.plan.Dma.Len, &o.copy.wrote)
	})
}

// overlap reports whether a part of m bytes at b, of which some were used, lies
// in n bytes at a.
func overlap(a uint64, n int, b uint64, m int, used *ranges) bool {
	lo, hi := max(a, b), min(end(a, n), end(b, m))
	return lo < hi && !used.free(int(lo-b), int(hi-b))
}

// others calls f for the entries but e that are at work, and those that are
// over, until it returns true.
func (r *Referee) others(e *txEntry, f func(*txEntry) bool) bool {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && i != q.ctx.PI; i++ {
			for o := q.slot(i).entry; o != nil; o = o.alt {
				if (o.queue != e.queue || o.index != e.index) && f(o) {
					return true
				}
			}
		}
	}
	for k := range r.tx.ghosts.Len() {
		if f(*r.tx.ghosts.At(k)) {
			return true
		}
	}
	return false
}

// claim gives a copy that ended well the writes and the message that it lacks
// and that were taken for those of others.
func (r *Referee) claim(e *txEntry) bool {
	if e.fails != 0 && !r.cure(e) {
		return false
	}
	n := e.plan.Dma.Len
	for at := e.copy.wrote.gap(n); at < n; at = e.copy.wrote.gap(n) {
		if !r.claimWrites(e, at) {
			return false
		}
	}
	if e.plan.Dma.Lines != 0 && !e.copy.told {
		r.otherCopies(e, func(o *txEntry) bool {
			if !o.copy.told || o.plan.Dma.Line != e.plan.Dma.Line || o.plan.Dma.Lines != e.plan.Dma.Lines {
				return false
			}
			o.copy.told, e.copy.told, o.left = false, true, false
			return true
		})
	}
	r.copyOver(e)
	return e.left
}

// claimWrites gives e the write of its byte at an offset, and of those after it,
// from another copy with that destination.
func (r *Referee) claimWrites(e *txEntry, at int) bool {
	return r.otherCopies(e, func(o *txEntry) bool {
		addr := e.plan.Dma.Dst + uint64(at)
		from := int(addr - o.plan.Dma.Dst)
		if addr < o.plan.Dma.Dst || from >= o.plan.Dma.Len {
			return false
		}
		lo, hi := o.copy.wrote.within(from, min(o.plan.Dma.Len, from+e.copy.wrote.room(at), from+e.plan.Dma.Len-at))
		if lo != from || lo == hi {
			return false
		}
		n := hi - lo
		if r.fetchFor(e, at, at+n); e.pieces[0].asked.free(at, at+n) && o.plan.Dma.Src+uint64(lo) == e.plan.Dma.Src+uint64(at) {
			r.unask(o, 0, lo, hi)
			r.wasAsked(e, 0, at, at+n)
		} else if o.copy.loose.add(lo, hi); !e.pieces[0].got.has(at, at+n) {
			return false
		}
		o.copy.wrote.remove(lo, hi)
		o.left = false
		e.copy.wrote.add(at, at+n)
		e.consume(at, at+n)
		return true
	})
}

// otherCopies calls f for the copies at work but e until it returns true.
func (r *Referee) otherCopies(e *txEntry, f func(*txEntry) bool) bool {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i++ {
			if o := q.slot(i).entry; o != nil && o != e && o.plan.Copy && o.plan.Status == nicspec.StatusOk && f(o) {
				return true
			}
		}
	}
	return false
}
