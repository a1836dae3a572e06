package golden

import (
	"fmt"

	"nictwin/golden/memory"
	"nictwin/models/nicspec"
)

// cutsLine reports whether a part of a range of n bytes begins or ends inside an
// aligned line that the range covers whole.
func cutsLine(base uint64, n, lo, hi int) bool {
	inside := func(at uint64) bool {
		line := at &^ (nicspec.LineBytes - 1)
		return at != line && line >= base && line+nicspec.LineBytes <= base+uint64(n)
	}
	return inside(base+uint64(lo)) || inside(base+uint64(hi))
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

// otherDest reports whether another copy writes to a place.
func (r *Referee) otherDest(e *txEntry, addr uint64, n int) bool {
	for node := r.wr.First(addr); node != nil; node = r.wr.Next(node) {
		if node.Owner.Kind == memory.Copy && !node.Owner.Entry.sameAs(e) && addr < node.Hi && memory.End(addr, n) > node.Lo {
			return true
		}
	}
	return false
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
	if f := r.fence(e, what); f != nil {
		r.log.FailOf(f.subject(), e.queue.domain(), "D10", what, fmt.Sprintf("those of entry %d before the first write of entry %d", e.index, f.index),
			"one after it", r.hdr.String(), e.describe(), f.describe())
	}
}

// fence is a fenced copy behind an entry that has surely written, nil if there
// is none.
func (r *Referee) fence(e *txEntry, what string) *txEntry {
	q := e.queue
	for i := q.after(e.index); i != q.ctx.PI; i = q.after(i) {
		f := q.slot(i).entry
		if f == nil {
			return nil
		}
		if f.plan.Copy && f.plan.Dma.Fence && !f.copy.wrote.Empty() && (what != "message" || !r.otherMessage(e)) {
			return f
		}
	}
	return nil
}

// otherMessage reports whether the message of another copy at work, of the same
// lines, may have been this one's.
func (r *Referee) otherMessage(e *txEntry) bool {
	return r.otherCopies(e, func(o *txEntry) bool {
		return o.plan.Dma.Lines == e.plan.Dma.Lines && o.plan.Dma.Line == e.plan.Dma.Line
	})
}
