package golden

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
)

// copyState is what is known of a copy beyond what it read: its source is the
// first piece of its entry. Bytes that were written are no longer kept.
type copyState struct {
	wrote memory.Set // of the destination, by writes that were surely its own
	seen  memory.Set // of the destination, by writes that were its own or another copy's
	told  bool       // its message has left
	open  bool       // its destination is in the page map
	late  int        // reads that left after one failed
	well  bool       // it ended well
	claim *copyClaim // on writes that may have been another's, nil without any
}

// readsAfterFailure is how many reads may be on their way when one of their
// copy fails [D3].
const readsAfterFailure = 64

func (e *txEntry) dest() owner {
	return owner{Kind: memory.Copy, Queue: uint16(e.queue.id), Index: e.index, Entry: e}
}

// writer finds the copy that a write belongs to: one that can have made it, if
// there is one; of the readings of an entry, the first that can. txSide.able then
// has all that can, a reading each.
func (es *Entries) writer(addr uint64, b []byte) (best *txEntry) {
	es.able = es.able[:0]
	fits := false
	for node := es.wr.First(addr); node != nil; node = es.wr.Next(node) {
		if node.Owner.Kind != memory.Copy || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		e := node.Owner.Entry
		off := int(addr - node.Lo)
		if es.mayWrite(e, off, b) {
			es.enable(e)
		}
		if f := e.fits(off, b); best == nil || f && !fits {
			best, fits = e, f
		}
	}
	if len(es.able) > 0 {
		return es.able[0]
	}
	return best
}

// enable enters a copy that can have made a write. Of the readings of an entry
// the first in its slot is kept.
func (es *Entries) enable(e *txEntry) {
	for i, o := range es.able {
		if !o.sameAs(e) {
			continue
		}
		if e.queue.slot(e.index).entry == e {
			es.able[i] = e
		}
		return
	}
	es.able = append(es.able, e)
}

// consume lets go of bytes that were written, but for those of reads that may
// have been for others.
func (e *txEntry) consume(lo, hi int) {
	p := &e.pieces[0]
	for at := lo; at < hi && !p.got.Empty(); {
		from, to := p.got.Within(at, hi)
		if at = to; from >= to || p.hasShare(from, to) {
			continue
		}
		p.got.Remove(from, to)
		e.buf.Drop(from, to-from)
	}
}

// cutsLine reports whether a part of a range of n bytes begins or ends inside an
// aligned line that the range covers whole.
func cutsLine(base uint64, n, lo, hi int) bool {
	inside := func(at uint64) bool {
		line := at &^ (nicspec.LineBytes - 1)
		return at != line && line >= base && line+nicspec.LineBytes <= base+uint64(n)
	}
	return inside(base+uint64(lo)) || inside(base+uint64(hi))
}

// otherDest reports whether another copy writes to a place.
func (es *Entries) otherDest(e *txEntry, addr uint64, n int) bool {
	for node := es.wr.First(addr); node != nil; node = es.wr.Next(node) {
		if node.Owner.Kind == memory.Copy && !node.Owner.Entry.sameAs(e) && addr < node.Hi && memory.End(addr, n) > node.Lo {
			return true
		}
	}
	return false
}

// fence is a fenced copy behind an entry that has surely written, nil if there
// is none.
func (es *Entries) fence(e *txEntry, what string) *txEntry {
	q := e.queue
	for i := q.after(e.index); i != q.ctx.PI; i = q.after(i) {
		f := q.slot(i).entry
		if f == nil {
			return nil
		}
		if f.plan.Copy && f.plan.Dma.Fence && !f.copy.wrote.Empty() && (what != "message" || !es.otherMessage(e)) {
			return f
		}
	}
	return nil
}

// otherMessage reports whether the message of another copy at work, of the same
// lines, may have been this one's.
func (es *Entries) otherMessage(e *txEntry) bool {
	return es.otherCopies(e, func(o *txEntry) bool {
		return o.plan.Dma.Lines == e.plan.Dma.Lines && o.plan.Dma.Line == e.plan.Dma.Line
	})
}

// beginCopy lets the device read and write what a copy asks for [D2].
func (es *Entries) beginCopy(e *txEntry) {
	p := &e.plan.Dma
	e.queue.copies = true
	if p.Len == 0 {
		return
	}
	e.pieces[0].bus, e.pieces[0].len, e.pieces[0].off = p.Src, p.Len, 0
	e.count = 1
	e.buf.Page(p.Len, &es.pages)
	es.wr.Add(p.Dst, p.Len, e.dest())
	e.copy.open = true
	es.copying++
}

// closeDest ends what the device may write for an entry.
func (es *Entries) closeDest(e *txEntry) {
	if e.copy.open {
		es.claimOver(e)
		es.wr.Remove(e.plan.Dma.Dst, e.plan.Dma.Len, e.dest())
		e.copy.open = false
		es.copying--
	}
}

// before is an entry that keeps e from starting, nil if there is none: Sends
// wait for the copies before them in their queue, and copies for the Sends
// [D8].
func (es *Entries) before(e *txEntry) *txEntry {
	q := e.queue
	if !q.sends || !q.copies {
		return nil
	}
	for i := q.oldest; i != e.index; i = q.after(i) {
		o := q.slot(i).entry
		if o == nil || o.left || o.mayBeCopied() || !o.works() || o.plan.Copy == e.plan.Copy {
			continue
		}
		if m, _ := es.outcomes(o); m&^statusBit(nicspec.StatusOk) == 0 && !es.misled(o) {
			return o
		}
	}
	return nil
}

// fits reports whether a copy may write these bytes now [D2].
func (e *txEntry) fits(off int, b []byte) bool {
	if !e.copy.wrote.Free(off, off+len(b)) {
		return false
	}
	return e.pieces[0].got.Has(off, off+len(b)) && e.buf.Differs(off, b) == len(b)
}

// bytesToCopy is what copies at work have not written.
func (es *Entries) bytesToCopy() (n uint64) {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i = q.after(i) {
			if e := q.slot(i).entry; e != nil && e.plan.Copy {
				n += uint64(e.plan.Dma.Len - e.copy.wrote.Size())
			}
		}
	}
	return n
}

// cameSomewhere reports whether a copy can have read these bytes: each came from
// its place in the source, for the copy or for another entry.
func (es *Entries) cameSomewhere(e *txEntry, off int, b []byte) bool {
	for i := range b {
		if !es.places(e.plan.Dma.Src+uint64(off+i), func(h place) bool { return h.contains(b[i : i+1]) }) {
			return false
		}
	}
	return true
}

// settles reports whether a copy may write these bytes once reads have been
// exchanged with other entries, and exchanges them.
func (e *txEntry) settles(es *Entries, addr uint64, b []byte) bool {
	off := int(addr - e.plan.Dma.Dst)
	return e.fits(off, b) || e.copy.wrote.Free(off, off+len(b)) && es.obtain(e, 0, off, off+len(b), b)
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
func (es *Entries) misled(e *txEntry) bool {
	return e.plan.Dma.Lines != 0 && es.otherMessage(e) || es.others(e, func(o *txEntry) bool {
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

// endCopied settles a copy that is over and has left no other trace than writes
// that may have been another's: it has read all of its source.
func (es *Entries) endCopied(s *txSlot) {
	for x := s.entry; x != nil && !s.entry.left; x = x.alt {
		if x.mayBeCopied() {
			es.taken(s, x)
			x.copy.well = true
			x.left = es.gather(x) && !x.mayShare() // else what was read for it may be of use for others
			return
		}
	}
}

// otherCopies calls f for the copies at work but e until it returns true.
func (es *Entries) otherCopies(e *txEntry, f func(*txEntry) bool) bool {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i = q.after(i) {
			if o := q.slot(i).entry; o != nil && o != e && o.plan.Copy && o.plan.Status == nicspec.StatusOk && f(o) {
				return true
			}
		}
	}
	return false
}
