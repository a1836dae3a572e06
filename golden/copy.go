package golden

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
)

// wrote notes that bytes of a copy were written, and settles which reading of
// its entry the device took.
func (r *Referee) wrote(e *txEntry, off int, b []byte) {
	r.tx.copied = e
	q, n := e.queue, len(b)
	r.log.Saw(q.domain())
	if s := q.slot(e.index); s.entry.alt != nil {
		r.ent.dropReadings(s.entry, e)
		s.entry = e
	}
	if !e.copy.wrote.Add(off, off+n) {
		return // has been reported
	}
	r.leaves(q.domain(), "bytes of a copy")
	r.fenced(e, "write")
	e.consume(off, off+n)
	r.stats.Compared++
	r.cnt.Step(nicspec.CntCopyBytes.Index(), uint64(n), r.now)
	r.copyOver(e)
}

// copyOver ends a copy that has done everything [D6].
func (r *Referee) copyOver(e *txEntry) {
	p, q := &e.plan.Dma, e.queue
	if e.left || !e.copy.wrote.Exactly(p.Len) || p.Lines != 0 && !e.copy.told {
		return
	}
	e.left = true
	k := q.oldest
	for k != q.ctx.PI && q.slot(k).entry != nil && q.slot(k).entry.left {
		k = q.after(k)
	}
	t := r.tx.of(e)
	r.ended(t, k)
	r.settleEntries(t)
}

// failCopy reports a write that a copy may not make.
func (r *Referee) failCopy(e *txEntry, off int, b []byte) {
	d, n := e.queue.domain(), len(b)
	r.log.Saw(d)
	place := fmt.Sprintf("%d B at byte %d of the destination", n, off)
	p := &e.pieces[0]
	switch {
	case !e.copy.wrote.Free(off, off+n):
		r.failEntry(e, d, "D2", "write", "every byte once", "bytes written again: "+place, r.hdr.String())
	case !p.got.Has(off, off+n) && e.fails != 0:
		r.failEntry(e, d, "D3", "write", "bytes that came", place, r.hdr.String())
	case !p.got.Has(off, off+n):
		r.failEntry(e, d, "D2", "write", "bytes that came from the source", place, r.hdr.String())
	default:
		i := e.buf.Differs(off, b)
		r.failEntry(e, d, "D2", "byte", verdict.ByteOf(e.buf.Part(off+i, 1)[0], off+i), verdict.ByteOf(b[i], off+i), r.hdr.String())
	}
}

// unsureWrite takes a write that several copies may have made.
func (r *Referee) unsureWrite(addr uint64, b []byte) {
	d := r.ent.able[0].queue.domain()
	r.log.Saw(d)
	for _, e := range r.ent.able {
		from := int(addr - e.plan.Dma.Dst)
		e.copy.seen.Cover(from, from+len(b))
	}
	r.leaves(d, "bytes of a copy")
	r.stats.Compared++
	r.cnt.Step(nicspec.CntCopyBytes.Index(), uint64(len(b)), r.now)
	r.ent.shareWrite(addr, len(b), r.ent.able)
}

// wholeWrite checks that a write of a copy leaves no line in parts [D2].
func (r *Referee) wholeWrite(e *txEntry, off, n int) {
	p := &e.plan.Dma
	if !p.WholeLines() || !cutsLine(p.Dst, p.Len, off, off+n) {
		return
	}
	r.failEntry(e, e.queue.domain(), "D2", "write", "each whole line in one MWr",
		fmt.Sprintf("%d B at %#x, byte %d of the destination", n, p.Dst+uint64(off), off), r.hdr.String())
}

// wholeRead is wholeWrite for a read of a copy's source.
func (r *Referee) wholeRead(e *txEntry, d *readReq) {
	p := &e.plan.Dma
	if !e.plan.Copy || !p.WholeLines() || d.shared {
		return
	}
	if off := int(d.addr - p.Src); cutsLine(p.Src, p.Len, off, off+d.n) {
		r.failEntry(e, e.queue.domain(), "D2", "read", "each whole line of the source in one MRd",
			fmt.Sprintf("%d B at %#x, byte %d of the source", d.n, d.addr, off), r.hdr.String())
	}
}

// fenced checks that a write or message of a copy does not leave after the first
// write of a fenced one behind it [D10].
func (r *Referee) fenced(e *txEntry, what string) {
	if f := r.ent.fence(e, what); f != nil {
		r.log.FailOf(f.subject(), e.queue.domain(), "D10", what, fmt.Sprintf("those of entry %d before the first write of entry %d", e.index, f.index),
			"one after it", r.hdr.String(), e.describe(), f.describe())
	}
}

// inTurn checks that an entry may start, or go on, with a read [D3, D8].
func (r *Referee) inTurn(e *txEntry, d *readReq) {
	if e.plan.Copy && e.fails != 0 {
		e.copy.late++
	}
	o := r.ent.before(e)
	if o == nil && e.copy.late <= readsAfterFailure || r.ent.holders(e, d.addr, d.n, func(place) bool { return true }) {
		return
	}
	got := fmt.Sprintf("%d B at %#x", d.n, d.addr)
	if o != nil {
		r.log.FailOf(e.subject(), e.queue.domain(), "D8", "read", fmt.Sprintf("none for entry %d before entry %d has ended", e.index, o.index), got,
			r.hdr.String(), e.describe(), o.describe())
	} else if e.copy.late == readsAfterFailure+1 {
		r.failEntry(e, e.queue.domain(), "D3", "read", fmt.Sprintf("at most %d after a read of the copy failed", readsAfterFailure), got,
			r.hdr.String())
	}
}

// claim gives a copy that ended well what it lacks and what was taken for
// others': reads that came, and its message.
func (r *Referee) claim(e *txEntry) bool {
	if e.fails != 0 && !r.ent.replaceFailed(e) || !e.copied() {
		return false
	}
	if e.plan.Dma.Lines != 0 && !e.copy.told {
		r.ent.otherCopies(e, func(o *txEntry) bool {
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
