package golden

import "nictwin/models/nicspec"

// Copies that name the same memory cannot be told apart by a read, or a write,
// alone: what follows exchanges what was attributed, as txattribution.go does for
// Sends, so that it fits what was shown.

// settles reports whether a copy may write these bytes once reads have been
// exchanged with other entries, and exchanges them.
func (e *txEntry) settles(r *Referee, addr uint64, b []byte) bool {
	off := int(addr - e.plan.Dma.Dst)
	return e.fits(off, b) || e.copy.wrote.free(off, off+len(b)) && r.obtain(e, 0, off, off+len(b), b)
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
	return n > 0 && m > 0 && lo < hi && !used.free(int(lo-b), int(hi-b))
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
		o.copy.wrote.remove(lo, hi)
		if !r.obtain(e, 0, at, at+n, nil) {
			o.copy.wrote.add(lo, hi)
			return false
		}
		if !o.pieces[0].got.has(lo, hi) {
			o.copy.loose.add(lo, hi)
		}
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
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i = q.after(i) {
			if o := q.slot(i).entry; o != nil && o != e && o.plan.Copy && o.plan.Status == nicspec.StatusOk && f(o) {
				return true
			}
		}
	}
	return false
}
