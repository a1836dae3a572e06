package golden

import (
	"fmt"

	"nictwin/models/nicspec"
)

// beginCopy lets the device read and write what a copy asks for [D2].
func (r *Referee) beginCopy(e *txEntry) {
	p := &e.plan.Dma
	e.queue.copies = true
	if p.Len == 0 {
		return
	}
	e.pieces[0].bus, e.pieces[0].len, e.pieces[0].off = p.Src, p.Len, 0
	e.count = 1
	e.buf.Page(p.Len, &r.tx.pages)
	r.wr.Add(p.Dst, p.Len, e.dest())
	e.copy.open = true
	r.tx.copying++
}

// closeDest ends what the device may write for an entry.
func (r *Referee) closeDest(e *txEntry) {
	if e.copy.open {
		r.claimOver(e)
		r.wr.Remove(e.plan.Dma.Dst, e.plan.Dma.Len, e.dest())
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
		r.log.FailOf(e.subject(), e.queue.domain(), "D8", "read", fmt.Sprintf("none for entry %d before entry %d has ended", e.index, o.index), got,
			r.hdr.String(), e.describe(), o.describe())
	} else if e.copy.late == readsAfterFailure+1 {
		r.failEntry(e, e.queue.domain(), "D3", "read", fmt.Sprintf("at most %d after a read of the copy failed", readsAfterFailure), got,
			r.hdr.String())
	}
}

// fits reports whether a copy may write these bytes now [D2].
func (e *txEntry) fits(off int, b []byte) bool {
	if !e.copy.wrote.Free(off, off+len(b)) {
		return false
	}
	return e.pieces[0].got.Has(off, off+len(b)) && e.buf.Differs(off, b) == len(b)
}

// bytesToCopy is what copies at work have not written.
func (r *Referee) bytesToCopy() (n uint64) {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && q.copies && i != q.ctx.PI; i = q.after(i) {
			if e := q.slot(i).entry; e != nil && e.plan.Copy {
				n += uint64(e.plan.Dma.Len - e.copy.wrote.Size())
			}
		}
	}
	return n
}
