package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// recordCopyWrite records a write of a copy to its destination. It settles which reading of the entry the device
// took.
func (r *Referee) recordCopyWrite(e *attribution.Entry, off int, b []byte) {
	r.tx.copied = e
	q, n := e.Queue, len(b)
	r.log.AddCrossing(q.Domain())
	r.ent.TakeReading(q.Slot(e.Index), e)
	if !e.Copy.Wrote.Add(off, off+n) {
		return // the caller reports the mismatch
	}
	r.checkBusySinceRead(q.Domain(), "bytes of a copy")
	r.checkFence(e, "write")
	e.Consume(off, off+n)
	r.stats.Compared++
	r.cnt.Step(nicspec.CntCopyBytes.Index(), uint64(n), r.now)
	r.copyOver(e)
}

// copyOver marks a copy as done if it has written and sent everything [D6].
func (r *Referee) copyOver(e *attribution.Entry) {
	p, q := &e.Plan.Dma, e.Queue
	if e.Left || !e.Copy.Wrote.Exactly(p.Len) || p.Lines != 0 && !e.Copy.MessageSent {
		return
	}
	e.Left = true
	k := q.Oldest
	for k != q.Ctx.PI && q.Slot(k).Entry != nil && q.Slot(k).Entry.Left {
		k = q.After(k)
	}
	t := r.tx.of(e)
	r.ended(t, k)
	r.settleEntries(t)
}

// failCopy reports a write that a copy must not make.
func (r *Referee) failCopy(e *attribution.Entry, off int, b []byte) {
	d, n := e.Queue.Domain(), len(b)
	r.log.AddCrossing(d)
	place := fmt.Sprintf("%d B at byte %d of the destination", n, off)
	p := &e.Pieces[0]
	switch {
	case !e.Copy.Wrote.Free(off, off+n):
		r.failEntry(e, d, "D2", "write", "every byte once", "bytes written again: "+place, r.hdr.String())
	case !p.Got.Has(off, off+n) && e.Fails != 0:
		r.failEntry(e, d, "D3", "write", "bytes that came", place, r.hdr.String())
	case !p.Got.Has(off, off+n):
		r.failEntry(e, d, "D2", "write", "bytes that came from the source", place, r.hdr.String())
	default:
		i := e.Buf.Differs(off, b)
		r.failEntry(e, d, "D2", "byte", verdict.ByteOf(e.Buf.Part(off+i, 1)[0], off+i), verdict.ByteOf(b[i], off+i),
			r.hdr.String())
	}
}

// unsureWrite handles a write that several copies may have made, e among them.
func (r *Referee) unsureWrite(e *attribution.Entry, addr uint64, b []byte) {
	d := e.Queue.Domain()
	r.log.AddCrossing(d)
	r.checkBusySinceRead(d, "bytes of a copy")
	r.stats.Compared++
	r.cnt.Step(nicspec.CntCopyBytes.Index(), uint64(len(b)), r.now)
	r.ent.WrittenByAny(addr, len(b))
}

// checkWholeWrite checks that a write of a copy splits no line [D2].
func (r *Referee) checkWholeWrite(e *attribution.Entry, off, n int) {
	p := &e.Plan.Dma
	if !p.WholeLines() || !attribution.CutsLine(p.Dst, p.Len, off, off+n) {
		return
	}
	r.failEntry(e, e.Queue.Domain(), "D2", "write", "each whole line in one MWr",
		fmt.Sprintf("%d B at %#x, byte %d of the destination", n, p.Dst+uint64(off), off), r.hdr.String())
}

// checkWholeRead checks that a read of a copy's source splits no line [D2].
func (r *Referee) checkWholeRead(e *attribution.Entry, d *attribution.Read) {
	p := &e.Plan.Dma
	if !e.Plan.Copy || !p.WholeLines() || d.Shared {
		return
	}
	if off := int(d.Addr - p.Src); attribution.CutsLine(p.Src, p.Len, off, off+d.N) {
		r.failEntry(e, e.Queue.Domain(), "D2", "read", "each whole line of the source in one MRd",
			fmt.Sprintf("%d B at %#x, byte %d of the source", d.N, d.Addr, off), r.hdr.String())
	}
}

// checkFence checks that no write or message of a copy leaves after the first write of a fenced copy
// behind it [D10].
func (r *Referee) checkFence(e *attribution.Entry, what string) {
	if f := r.ent.Fence(e, what); f != nil {
		r.log.FailOf(f.Subject(), e.Queue.Domain(), "D10", what,
			fmt.Sprintf("those of entry %d before the first write of entry %d", e.Index, f.Index),
			"one after it", r.hdr.String(), e.Describe(), f.Describe())
	}
}

// checkTurn checks that an entry may start, or continue, with a read [D3, D8].
func (r *Referee) checkTurn(e *attribution.Entry, d *attribution.Read) {
	if e.Plan.Copy && e.Fails != 0 {
		e.Copy.Late++
	}
	o := r.ent.Before(e)
	if o == nil && e.Copy.Late <= attribution.ReadsAfterFailure || r.ent.OtherSource(e, d.Addr, d.N) {
		return
	}
	got := fmt.Sprintf("%d B at %#x", d.N, d.Addr)
	if o != nil {
		r.log.FailOf(e.Subject(), e.Queue.Domain(), "D8", "read",
			fmt.Sprintf("none for entry %d before entry %d has ended", e.Index, o.Index), got,
			r.hdr.String(), e.Describe(), o.Describe())
	} else if e.Copy.Late == attribution.ReadsAfterFailure+1 {
		r.failEntry(e, e.Queue.Domain(), "D3", "read", fmt.Sprintf("at most %d after a read of the copy failed",
			attribution.ReadsAfterFailure), got,
			r.hdr.String())
	}
}

// claimCopy moves reads and a message of other entries to a copy that must have ended with status Ok and lacks
// them. It reports whether the copy may be complete then.
func (r *Referee) claimCopy(e *attribution.Entry) bool {
	if e.Fails != 0 && !r.ent.ReplaceFailed(e) || !e.Copied() {
		return false
	}
	if e.Plan.Dma.Lines != 0 && !e.Copy.MessageSent {
		r.ent.TakeMessage(e)
	}
	r.copyOver(e)
	return e.Left || e.MayBeCopied()
}

// claimAny is claimCopy for all readings of an entry. It reports whether one of them may be complete.
func (r *Referee) claimAny(e *attribution.Entry) bool {
	for x := e; x != nil; x = x.Alt {
		if x.Plan.Copy && x.Plan.Status == nicspec.StatusOk && r.claimCopy(x) {
			return true
		}
	}
	return false
}
