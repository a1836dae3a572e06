package golden

import (
	"fmt"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
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
func (r *Referee) writer(addr uint64, b []byte) (best *txEntry) {
	r.tx.able = r.tx.able[:0]
	fits := false
	for node := r.wr.First(addr); node != nil; node = r.wr.Next(node) {
		if node.Owner.Kind != memory.Copy || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		e := node.Owner.Entry
		off := int(addr - node.Lo)
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

// wrote notes that bytes of a copy were written, and settles which reading of
// its entry the device took.
func (r *Referee) wrote(e *txEntry, off int, b []byte) {
	r.tx.copied = e
	q, n := e.queue, len(b)
	r.log.Saw(q.domain())
	if s := q.slot(e.index); s.entry.alt != nil {
		r.dropReadings(s.entry, e)
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
	r.ended(q, k)
	r.settleEntries(q)
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
