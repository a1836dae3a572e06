package golden

import (
	"fmt"

	"nictwin/models/nicspec"
)

// copyState is what is known of a copy beyond what it read: its source is the
// first piece of its entry. Bytes that were written are no longer kept.
type copyState struct {
	wrote ranges     // of the destination, by writes that were surely its own
	seen  ranges     // of the destination, by writes that were its own or another copy's
	told  bool       // its message has left
	open  bool       // its destination is in the page map
	late  int        // reads that left after one failed
	well  bool       // it ended well
	claim *copyClaim // on writes that may have been another's, nil without any
}

// readsAfterFailure is how many reads may be on their way when one of their
// copy fails [D3].
const readsAfterFailure = 64

// beginCopy lets the device read and write what a copy asks for [D2].
func (r *Referee) beginCopy(e *txEntry) {
	p := &e.plan.Dma
	e.queue.copies = true
	if p.Len == 0 {
		return
	}
	e.pieces[0].bus, e.pieces[0].len, e.pieces[0].off = p.Src, p.Len, 0
	e.count = 1
	e.buf.page(p.Len, &r.tx.pages)
	r.wr.add(p.Dst, p.Len, e.dest())
	e.copy.open = true
	r.tx.copying++
}

func (e *txEntry) dest() owner {
	return owner{kind: ownsCopy, queue: uint16(e.queue.id), index: e.index, entry: e}
}

// closeDest ends what the device may write for an entry.
func (r *Referee) closeDest(e *txEntry) {
	if e.copy.open {
		r.claimOver(e)
		r.wr.remove(e.plan.Dma.Dst, e.plan.Dma.Len, e.dest())
		e.copy.open = false
		r.tx.copying--
	}
}

// before is an entry that keeps e from starting, nil if there is none: Sends
// wait for the copies before them in their queue, and copies for the Sends
// [D8].
func (r *Referee) before(e *txEntry) *txEntry {
	q := e.queue
	if !q.sends || !q.copies {
		return nil
	}
	for i := q.oldest; i != e.index; i = q.after(i) {
		o := q.slot(i).entry
		if o == nil || o.left || o.mayBeCopied() || !o.works() || o.plan.Copy == e.plan.Copy {
			continue
		}
		if m, _ := r.outcomes(o); m&^statusBit(nicspec.StatusOk) == 0 && !r.misled(o) {
			return o
		}
	}
	return nil
}

// inTurn checks that an entry may start, or go on, with a read [D3, D8].
func (r *Referee) inTurn(e *txEntry, d *readReq) {
	if e.plan.Copy && e.fails != 0 {
		e.copy.late++
	}
	o := r.before(e)
	if o == nil && e.copy.late <= readsAfterFailure || r.holders(e, d.addr, d.n, func(place) bool { return true }) {
		return
	}
	got := fmt.Sprintf("%d B at %#x", d.n, d.addr)
	if o != nil {
		r.failOf(e.subject(), e.queue.domain(), "D8", "read", fmt.Sprintf("none for entry %d before entry %d has ended", e.index, o.index), got,
			r.hdr.String(), e.describe(), o.describe())
	} else if e.copy.late == readsAfterFailure+1 {
		r.failEntry(e, e.queue.domain(), "D3", "read", fmt.Sprintf("at most %d after a read of the copy failed", readsAfterFailure), got,
			r.hdr.String())
	}
}

// copyWrite takes bytes that were written to the destination of a copy. It
// reports false if there is none at that place.
func (r *Referee) copyWrite(addr uint64, b []byte) bool {
	if e := r.tx.copied; e != nil && e.copy.open && e.alt == nil && len(e.copy.seen.s) == 0 { // most go on where the one before ended
		off := int(addr - e.plan.Dma.Dst)
		if addr >= e.plan.Dma.Dst && off == e.copy.wrote.end() && off+len(b) <= e.plan.Dma.Len && e.fits(off, b) && r.before(e) == nil &&
			!r.otherDest(e, addr, len(b)) {
			r.wholeWrite(e, off, len(b))
			r.wrote(e, off, b)
			return true
		}
	}
	best := r.writer(addr, b)
	if best == nil {
		return false
	}
	off := int(addr - best.plan.Dma.Dst)
	if len(r.tx.able) > 1 {
		r.unsureWrite(addr, b)
		return true
	}
	if !best.settles(r, addr, b) && r.inRxBuffer(addr, len(b)) {
		return false
	}
	if !best.fits(off, b) {
		r.failCopy(best, off, b)
	} else if o := r.before(best); o != nil {
		r.past.note(best.queue.domain(), &r.x)
		r.failOf(best.subject(), best.queue.domain(), "D8", "write", fmt.Sprintf("none for entry %d before entry %d has ended", best.index, o.index),
			fmt.Sprintf("%d B at %#x", len(b), addr), r.hdr.String(), best.describe(), o.describe())
	}
	r.wholeWrite(best, off, len(b))
	r.wrote(best, off, b)
	return true
}

// writer finds the copy that a write belongs to: one that can have made it, if
// there is one; of the readings of an entry, the first that can. txSide.able then
// has all that can, a reading each.
func (r *Referee) writer(addr uint64, b []byte) (best *txEntry) {
	r.tx.able = r.tx.able[:0]
	fits := false
	for id := r.wr.first(addr); id != noNode; id = r.wr.nodes[id].next {
		node := &r.wr.nodes[id]
		if node.owner.kind != ownsCopy || addr < node.lo || end(addr, len(b)) > node.hi {
			continue
		}
		e := node.owner.entry
		off := int(addr - node.lo)
		if r.mayWrite(e, off, b) {
			r.enable(e)
		}
		if f := e.fits(off, b); best == nil || f && !fits {
			best, fits = e, f
		}
	}
	if len(r.tx.able) > 0 {
		return r.tx.able[0]
	}
	return best
}

// enable enters a copy that can have made a write. Of the readings of an entry
// the first in its slot is kept.
func (r *Referee) enable(e *txEntry) {
	for i, o := range r.tx.able {
		if !o.sameAs(e) {
			continue
		}
		if e.queue.slot(e.index).entry == e {
			r.tx.able[i] = e
		}
		return
	}
	r.tx.able = append(r.tx.able, e)
}

// fits reports whether a copy may write these bytes now [D2].
func (e *txEntry) fits(off int, b []byte) bool {
	if !e.copy.wrote.free(off, off+len(b)) {
		return false
	}
	return e.pieces[0].got.has(off, off+len(b)) && e.buf.differs(off, b) == len(b)
}

// wrote notes that bytes of a copy were written, and settles which reading of
// its entry the device took.
func (r *Referee) wrote(e *txEntry, off int, b []byte) {
	r.tx.copied = e
	q, n := e.queue, len(b)
	r.past.note(q.domain(), &r.x)
	if s := q.slot(e.index); s.entry.alt != nil {
		r.dropReadings(s.entry, e)
		s.entry = e
	}
	if !e.copy.wrote.add(off, off+n) {
		return // has been reported
	}
	r.leaves(q.domain(), "bytes of a copy")
	r.fenced(e, "write")
	e.consume(off, off+n)
	r.stats.Compared++
	r.cnt.step(nicspec.CntCopyBytes.Index(), uint64(n), r.now)
	r.copyOver(e)
}

// consume lets go of bytes that were written, but for those of reads that may
// have been for others.
func (e *txEntry) consume(lo, hi int) {
	p := &e.pieces[0]
	for at := lo; at < hi && len(p.got.s) > 0; {
		from, to := p.got.within(at, hi)
		if at = to; from >= to || p.hasShare(from, to) {
			continue
		}
		p.got.remove(from, to)
		e.buf.drop(from, to-from)
	}
}

// copyOver ends a copy that has done everything [D6].
func (r *Referee) copyOver(e *txEntry) {
	p, q := &e.plan.Dma, e.queue
	if e.left || !e.copy.wrote.exactly(p.Len) || p.Lines != 0 && !e.copy.told {
		return
	}
	e.left = true
	k := q.oldest
	for k != q.ctx.PI && q.slot(k).entry != nil && q.slot(k).entry.left {
		k = q.after(k)
	}
	r.ended(q, k)
	r.settleEntries(q)
}

// failCopy reports a write that a copy may not make.
func (r *Referee) failCopy(e *txEntry, off int, b []byte) {
	d, n := e.queue.domain(), len(b)
	r.past.note(d, &r.x)
	place := fmt.Sprintf("%d B at byte %d of the destination", n, off)
	p := &e.pieces[0]
	switch {
	case !e.copy.wrote.free(off, off+n):
		r.failEntry(e, d, "D2", "write", "every byte once", "bytes written again: "+place, r.hdr.String())
	case !p.got.has(off, off+n) && e.fails != 0:
		r.failEntry(e, d, "D3", "write", "bytes that came", place, r.hdr.String())
	case !p.got.has(off, off+n):
		r.failEntry(e, d, "D2", "write", "bytes that came from the source", place, r.hdr.String())
	default:
		i := e.buf.differs(off, b)
		r.failEntry(e, d, "D2", "byte", byteText(e.buf.part(off+i, 1)[0], off+i), byteText(b[i], off+i), r.hdr.String())
	}
}

// bytesToCopy is what copies at work have not written.
func (r *Referee) bytesToCopy() (n uint64) {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i = q.after(i) {
			if e := q.slot(i).entry; e != nil && e.plan.Copy {
				n += uint64(e.plan.Dma.Len - e.copy.wrote.size())
			}
		}
	}
	return n
}

func (e *txEntry) copyText() string {
	p := &e.plan.Dma
	s := fmt.Sprintf(": copy of %d B from %#x to %#x", p.Len, p.Src, p.Dst)
	if p.Len == 0 {
		s = ": invalidation"
	} else {
		s += fmt.Sprintf(", %d B asked for, %d B written", e.pieces[0].asked.size(), e.copy.wrote.size())
	}
	if p.Lines != 0 {
		s += fmt.Sprintf(", %d lines at %#x to be invalidated, message sent: %v", p.Lines, p.Line, e.copy.told)
	}
	if e.fails != 0 {
		s += ", failed with " + e.fails.String()
	}
	return s
}
