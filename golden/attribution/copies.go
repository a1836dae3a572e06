package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
)

// copyState is what is known of a copy beyond what it read: its source is the
// first piece of its entry. Bytes that were written are no longer kept.
type copyState struct {
	Wrote memory.Set // of the destination, by writes that were surely its own
	Seen  memory.Set // of the destination, by writes that were its own or another copy's
	Told  bool       // its message has left
	Open  bool       // its destination is in the page map
	Late  int        // reads that left after one failed
	Well  bool       // it ended well
	claim *copyClaim // on writes that may have been another's, nil without any
}

// ReadsAfterFailure is how many reads may be on their way when one of their
// copy fails [D3].
const ReadsAfterFailure = 64

func (e *Entry) dest() Owner {
	return Owner{Kind: memory.Copy, Queue: uint16(e.Queue.ID), Index: e.Index, Entry: e}
}

// Writer finds the copy that a write belongs to: one that can have made it, if
// there is one; of the readings of an entry, the first that can. txSide.able then
// has all that can, a reading each.
func (es *Entries) Writer(addr uint64, b []byte) (best *Entry) {
	es.Able = es.Able[:0]
	fits := false
	for node := es.Writable.First(addr); node != nil; node = es.Writable.Next(node) {
		if node.Owner.Kind != memory.Copy || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		e := node.Owner.Entry
		off := int(addr - node.Lo)
		if es.mayWrite(e, off, b) {
			es.enable(e)
		}
		if f := e.Fits(off, b); best == nil || f && !fits {
			best, fits = e, f
		}
	}
	if len(es.Able) > 0 {
		return es.Able[0]
	}
	return best
}

// enable enters a copy that can have made a write. Of the readings of an entry
// the first in its slot is kept.
func (es *Entries) enable(e *Entry) {
	for i, o := range es.Able {
		if !o.sameAs(e) {
			continue
		}
		if e.Queue.Slot(e.Index).Entry == e {
			es.Able[i] = e
		}
		return
	}
	es.Able = append(es.Able, e)
}

// Consume lets go of bytes that were written, but for those of reads that may
// have been for others.
func (e *Entry) Consume(lo, hi int) {
	p := &e.Pieces[0]
	for at := lo; at < hi && !p.Got.Empty(); {
		from, to := p.Got.Within(at, hi)
		if at = to; from >= to || p.hasShare(from, to) {
			continue
		}
		p.Got.Remove(from, to)
		e.Buf.Drop(from, to-from)
	}
}

// CutsLine reports whether a part of a range of n bytes begins or ends inside an
// aligned line that the range covers whole.
func CutsLine(base uint64, n, lo, hi int) bool {
	inside := func(at uint64) bool {
		line := at &^ (nicspec.LineBytes - 1)
		return at != line && line >= base && line+nicspec.LineBytes <= base+uint64(n)
	}
	return inside(base+uint64(lo)) || inside(base+uint64(hi))
}

// OtherDest reports whether another copy writes to a place.
func (es *Entries) OtherDest(e *Entry, addr uint64, n int) bool {
	for node := es.Writable.First(addr); node != nil; node = es.Writable.Next(node) {
		if node.Owner.Kind == memory.Copy && !node.Owner.Entry.sameAs(e) && addr < node.Hi && memory.End(addr, n) > node.Lo {
			return true
		}
	}
	return false
}

// Fence is a fenced copy behind an entry that has surely written, nil if there
// is none.
func (es *Entries) Fence(e *Entry, what string) *Entry {
	q := e.Queue
	for i := q.After(e.Index); i != q.Ctx.PI; i = q.After(i) {
		f := q.Slot(i).Entry
		if f == nil {
			return nil
		}
		if f.Plan.Copy && f.Plan.Dma.Fence && !f.Copy.Wrote.Empty() && (what != "message" || !es.otherMessage(e)) {
			return f
		}
	}
	return nil
}

// otherMessage reports whether the message of another copy at work, of the same
// lines, may have been this one's.
func (es *Entries) otherMessage(e *Entry) bool {
	return es.OtherCopies(e, func(o *Entry) bool {
		return o.Plan.Dma.Lines == e.Plan.Dma.Lines && o.Plan.Dma.Line == e.Plan.Dma.Line
	})
}

// beginCopy lets the device read and write what a copy asks for [D2].
func (es *Entries) beginCopy(e *Entry) {
	p := &e.Plan.Dma
	e.Queue.Copies = true
	if p.Len == 0 {
		return
	}
	e.Pieces[0].bus, e.Pieces[0].len, e.Pieces[0].off = p.Src, p.Len, 0
	e.Count = 1
	e.Buf.Page(p.Len, &es.Pages)
	es.Writable.Add(p.Dst, p.Len, e.dest())
	e.Copy.Open = true
	es.Copying++
}

// CloseDest ends what the device may write for an entry.
func (es *Entries) CloseDest(e *Entry) {
	if e.Copy.Open {
		es.claimOver(e)
		es.Writable.Remove(e.Plan.Dma.Dst, e.Plan.Dma.Len, e.dest())
		e.Copy.Open = false
		es.Copying--
	}
}

// Before is an entry that keeps e from starting, nil if there is none: Sends
// wait for the copies before them in their queue, and copies for the Sends
// [D8].
func (es *Entries) Before(e *Entry) *Entry {
	q := e.Queue
	if !q.Sends || !q.Copies {
		return nil
	}
	for i := q.Oldest; i != e.Index; i = q.After(i) {
		o := q.Slot(i).Entry
		if o == nil || o.Left || o.MayBeCopied() || !o.Works() || o.Plan.Copy == e.Plan.Copy {
			continue
		}
		if m, _ := es.Outcomes(o); m&^StatusSet(nicspec.StatusOk) == 0 && !es.misled(o) {
			return o
		}
	}
	return nil
}

// Fits reports whether a copy may write these bytes now [D2].
func (e *Entry) Fits(off int, b []byte) bool {
	if !e.Copy.Wrote.Free(off, off+len(b)) {
		return false
	}
	return e.Pieces[0].Got.Has(off, off+len(b)) && e.Buf.Differs(off, b) == len(b)
}

// BytesToCopy is what copies at work have not written.
func (es *Entries) BytesToCopy() (n uint64) {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && q.Copies && i != q.Ctx.PI; i = q.After(i) {
			if e := q.Slot(i).Entry; e != nil && e.Plan.Copy {
				n += uint64(e.Plan.Dma.Len - e.Copy.Wrote.Size())
			}
		}
	}
	return n
}

// cameSomewhere reports whether a copy can have read these bytes: each came from
// its place in the source, for the copy or for another entry.
func (es *Entries) cameSomewhere(e *Entry, off int, b []byte) bool {
	for i := range b {
		if !es.places(e.Plan.Dma.Src+uint64(off+i), func(h Place) bool { return h.contains(b[i : i+1]) }) {
			return false
		}
	}
	return true
}

// Settles reports whether a copy may write these bytes once reads have been
// exchanged with other entries, and exchanges them.
func (e *Entry) Settles(es *Entries, addr uint64, b []byte) bool {
	off := int(addr - e.Plan.Dma.Dst)
	return e.Fits(off, b) || e.Copy.Wrote.Free(off, off+len(b)) && es.obtain(e, 0, off, off+len(b), b)
}

// Copied reports whether all that a copy writes was written, by it or by
// another.
func (e *Entry) Copied() bool {
	at, n := 0, e.Plan.Dma.Len
	for at < n {
		next := max(e.Copy.Wrote.Next(at), e.Copy.Seen.Next(at))
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// MayBeCopied reports whether an entry is a copy that may have done everything,
// though some of it may have been for another.
func (e *Entry) MayBeCopied() bool {
	return e.Plan.Copy && !e.Copy.Seen.Empty() && e.Fails == 0 && e.Copied() && (e.Plan.Dma.Lines == 0 || e.Copy.Told)
}

// misled reports whether reads or messages that were taken for those of others
// may have been those of an entry, which may have ended by them.
func (es *Entries) misled(e *Entry) bool {
	return e.Plan.Dma.Lines != 0 && es.otherMessage(e) || es.others(e, func(o *Entry) bool {
		for i := range e.Count {
			for k := range o.Count {
				if overlap(e.Pieces[i].bus, e.Pieces[i].len, o.Pieces[k].bus, o.Pieces[k].len, &o.Pieces[k].asked) {
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

// EndCopied settles a copy that is over and has left no other trace than writes
// that may have been another's: it has read all of its source.
func (es *Entries) EndCopied(s *Slot) {
	for x := s.Entry; x != nil && !s.Entry.Left; x = x.Alt {
		if x.MayBeCopied() {
			es.Taken(s, x)
			x.Copy.Well = true
			x.Left = es.gather(x) && !x.mayShare() // else what was read for it may be of use for others
			return
		}
	}
}

// OtherCopies calls f for the copies at work but e until it returns true.
func (es *Entries) OtherCopies(e *Entry, f func(*Entry) bool) bool {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && q.Copies && i != q.Ctx.PI; i = q.After(i) {
			if o := q.Slot(i).Entry; o != nil && o != e && o.Plan.Copy && o.Plan.Status == nicspec.StatusOk && f(o) {
				return true
			}
		}
	}
	return false
}
