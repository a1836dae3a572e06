package golden

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
)

// Where the destinations of copies at work overlap, a write there may be any of
// theirs that can have made it: see docs/attribution.md and copyclaims.go.

// cameSomewhere reports whether a copy can have read these bytes: each came from
// its place in the source, for the copy or for another entry.
func (r *Referee) cameSomewhere(e *txEntry, off int, b []byte) bool {
	for i := range b {
		if !r.places(e.plan.Dma.Src+uint64(off+i), func(h place) bool { return h.contains(b[i : i+1]) }) {
			return false
		}
	}
	return true
}

// settles reports whether a copy may write these bytes once reads have been
// exchanged with other entries, and exchanges them.
func (e *txEntry) settles(r *Referee, addr uint64, b []byte) bool {
	off := int(addr - e.plan.Dma.Dst)
	return e.fits(off, b) || e.copy.wrote.Free(off, off+len(b)) && r.obtain(e, 0, off, off+len(b), b)
}

// copied reports whether all that a copy writes was written, by it or by
// another.
func (e *txEntry) copied() bool {
	at, n := 0, e.plan.Dma.Len
	for at < n {
		next := max(e.copy.wrote.Next(at), e.copy.seen.Next(at))
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// mayBeCopied reports whether an entry is a copy that may have done everything,
// though some of it may have been for another.
func (e *txEntry) mayBeCopied() bool {
	return e.plan.Copy && !e.copy.seen.Empty() && e.fails == 0 && e.copied() && (e.plan.Dma.Lines == 0 || e.copy.told)
}

// misled reports whether reads or messages that were taken for those of others
// may have been those of an entry, which may have ended by them.
func (r *Referee) misled(e *txEntry) bool {
	return e.plan.Dma.Lines != 0 && r.otherMessage(e) || r.others(e, func(o *txEntry) bool {
		for i := range e.count {
			for k := range o.count {
				if overlap(e.pieces[i].bus, e.pieces[i].len, o.pieces[k].bus, o.pieces[k].len, &o.pieces[k].asked) {
					return true
				}
			}
		}
		return false
	})
}

// overlap reports whether a part of m bytes at b, of which some were used, lies
// in n bytes at a.
func overlap(a uint64, n int, b uint64, m int, used *memory.Set) bool {
	lo, hi := max(a, b), min(memory.End(a, n), memory.End(b, m))
	return n > 0 && m > 0 && lo < hi && !used.Free(int(lo-b), int(hi-b))
}

// claim gives a copy that ended well what it lacks and what was taken for
// others': reads that came, and its message.
func (r *Referee) claim(e *txEntry) bool {
	if e.fails != 0 && !r.replaceFailed(e) || !e.copied() {
		return false
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
	return e.left || e.mayBeCopied()
}

// claims is claim for the readings of an entry: it reports whether one of them is
// a copy that may have ended well.
func (r *Referee) claims(e *txEntry) bool {
	for x := e; x != nil; x = x.alt {
		if x.plan.Copy && x.plan.Status == nicspec.StatusOk && r.claim(x) {
			return true
		}
	}
	return false
}

// endCopied settles a copy that is over and has left no other trace than writes
// that may have been another's: it has read all of its source.
func (r *Referee) endCopied(s *txSlot) {
	for x := s.entry; x != nil && !s.entry.left; x = x.alt {
		if x.mayBeCopied() {
			r.taken(s, x)
			x.copy.well = true
			x.left = r.gather(x) && !x.mayShare() // else what was read for it may be of use for others
			return
		}
	}
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
