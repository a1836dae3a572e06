package attribution

import (
	"fmt"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
)

// sharedCopyWrite is a write that any of several copies may have made.
type sharedCopyWrite struct {
	addr       uint64
	n          int
	by         []*copyClaim
	mayBeFrame bool // the write may also be one of a received frame
	claim      *copyClaim
	linked     bool
}

// copyClaim is a copy, at work or ended, that may have made shared writes. Writes and copies are matched byte by
// byte: each write belongs to one copy, each copy writes a byte at most once, and a copy that ended with status Ok
// has written all bytes of its destination.
type copyClaim struct {
	entry  *Entry // nil once the copy has ended
	queue  *Queue
	index  uint16
	dst    uint64
	n      int
	sure   memory.Set // parts of the destination that writes of this copy certainly filled
	well   bool       // the copy ended with status Ok
	open   bool       // excluded from the matching: this copy may have made any number of the shared writes
	write  *sharedCopyWrite
	round  int
	linked bool
}

// maxCopyWrites is the largest number of shared writes that are matched; beyond it all are forgotten.
const maxCopyWrites = 512

// wrote reports whether the copy itself certainly wrote the byte at an address.
func (c *copyClaim) wrote(addr uint64) bool {
	at := int(addr - c.dst)
	if c.entry != nil {
		return !c.entry.Copy.Wrote.Free(at, at+1)
	}
	return !c.sure.Free(at, at+1)
}

// claimOf returns the claim of a copy at work, a new one on first use. Copies with several possible decodings
// (Entry.Alt) are excluded from the matching.
func (es *Entries) claimOf(e *Entry) *copyClaim {
	c := e.Copy.claim
	if c == nil {
		c = es.claims.Get()
		*c = copyClaim{entry: e, queue: e.Queue, index: e.Index, dst: e.Plan.Dma.Dst, n: e.Plan.Dma.Len,
			sure: c.sure.Emptied()}
		e.Copy.claim = c
		es.claimed = append(es.claimed, c)
	}
	c.open = c.open || e.Alt != nil || e.Queue.Slot(e.Index).Entry != e
	return c
}

// WrittenByAny records a write that any of the copies found by Writer may have made.
func (es *Entries) WrittenByAny(addr uint64, n int) {
	for _, e := range es.candidates {
		from := int(addr - e.Plan.Dma.Dst)
		e.Copy.Seen.Cover(from, from+n)
	}
	if len(es.unclear) == maxCopyWrites {
		es.log.CountLimit(verdict.LimitCopyWrites, 1)
		es.forgetShared()
	}
	w := es.writes.Get()
	*w = sharedCopyWrite{addr: addr, n: n, by: w.by[:0], mayBeFrame: es.Writable.Within(addr, n, BufferKinds)}
	for _, e := range es.candidates {
		w.by = append(w.by, es.claimOf(e))
	}
	es.unclear = append(es.unclear, w)
	es.matchWrites(addr, memory.End(addr, n))
}

// claimOver records that a copy has ended.
func (es *Entries) claimOver(e *Entry) {
	c := e.Copy.claim
	if c == nil {
		return
	}
	c.open = c.open || e.Alt != nil
	c.well = (e.Left || e.Copy.Well) && !c.open
	for _, v := range e.Copy.Wrote.All() {
		c.sure.Cover(v.Lo, v.Hi)
	}
	c.entry, e.Copy.claim = nil, nil
	es.matchWrites(c.dst, memory.End(c.dst, c.n))
	es.dropShared()
}

// matchWrites checks that writes and copies can be matched at each byte of a range. It suffices
// that one matching covers all writes and another all copies that ended well: then one covers both
// (Mendelsohn and Dulmage).
func (es *Entries) matchWrites(lo, hi uint64) {
	for at := lo; at < hi; at = es.uniformEnd(at, hi) {
		if w, ok := es.matchEveryWrite(at); !ok {
			c := w.by[0]
			es.failShared(c, "every byte once", fmt.Sprintf("more writes at %#x than copies that can have made them",
				at))
			return
		}
		if c, ok := es.matchEveryCopy(at); !ok {
			es.failShared(c, "every byte, by the time at which the copy ended well",
				fmt.Sprintf("fewer writes at %#x than copies that ended well", at))
			return
		}
	}
}

// uniformEnd returns the end, at most hi, of the range that begins at an address and whose bytes are all covered by
// the same writes and the same copies.
func (es *Entries) uniformEnd(at, hi uint64) uint64 {
	cut := func(lo, to uint64) {
		if lo > at {
			hi = min(hi, lo)
		} else if to > at {
			hi = min(hi, to)
		}
	}
	for _, w := range es.unclear {
		cut(w.addr, memory.End(w.addr, w.n))
	}
	for _, c := range es.claimed {
		cut(c.dst, memory.End(c.dst, c.n))
		sure := &c.sure
		if c.entry != nil {
			sure = &c.entry.Copy.Wrote
		}
		for _, v := range sure.All() {
			cut(c.dst+uint64(v.Lo), c.dst+uint64(v.Hi))
		}
	}
	return hi
}

func (w *sharedCopyWrite) at(addr uint64) bool {
	return addr >= w.addr && addr < memory.End(w.addr, w.n)
}

// matchEveryWrite matches each write at an address with a copy. If that is impossible, it returns a write without a
// copy, and false.
func (es *Entries) matchEveryWrite(addr uint64) (*sharedCopyWrite, bool) {
	for _, c := range es.claimed {
		c.write = nil
	}
	for _, w := range es.unclear {
		if es.round++; w.at(addr) && !w.mayBeFrame && !es.findCopy(w, addr) {
			return w, false
		}
	}
	return nil, true
}

func (es *Entries) findCopy(w *sharedCopyWrite, addr uint64) bool {
	for _, c := range w.by {
		if c.open {
			return true
		}
		if c.round == es.round || c.wrote(addr) {
			continue
		}
		if c.round = es.round; c.write == nil || es.findCopy(c.write, addr) {
			c.write = w
			return true
		}
	}
	return false
}

// matchEveryCopy matches each copy that ended with status Ok with a write at an address. If that is impossible, it
// returns a copy without a write, and false.
func (es *Entries) matchEveryCopy(addr uint64) (*copyClaim, bool) {
	for _, w := range es.unclear {
		w.claim = nil
	}
	for _, c := range es.claimed {
		if !c.well || addr < c.dst || addr >= memory.End(c.dst, c.n) || c.wrote(addr) {
			continue
		}
		if es.round++; !es.findWrite(c, addr) {
			return c, false
		}
	}
	return nil, true
}

func (es *Entries) findWrite(c *copyClaim, addr uint64) bool {
	c.round = es.round
	for _, w := range es.unclear {
		if !w.at(addr) || !w.names(c) || w.claim != nil && w.claim.round == es.round {
			continue
		}
		if w.claim == nil || es.findWrite(w.claim, addr) {
			w.claim = c
			return true
		}
	}
	return false
}

func (w *sharedCopyWrite) names(c *copyClaim) bool {
	for _, o := range w.by {
		if o == c {
			return true
		}
	}
	return false
}

func (es *Entries) failShared(c *copyClaim, want, got string) {
	d := c.queue.Domain()
	es.log.AddCrossing(d)
	es.log.FailOf(verdict.Subject{Index: int(c.index)}, d, "D2", "write", want, got,
		fmt.Sprintf("entry %d of queue %d: copy of %d B to %#x", c.index, c.queue.ID, c.n, c.dst))
	es.forgetShared()
}

// forgetShared gives up matching the present shared writes: it forgets them, and excludes the copies that may have
// made them.
func (es *Entries) forgetShared() {
	for _, c := range es.claimed {
		c.open, c.well = true, false
	}
	for _, w := range es.unclear {
		es.writes.Put(w)
	}
	es.unclear = es.unclear[:0]
	es.dropShared()
}

// dropShared forgets the writes and copies that are not linked, directly or through others, to a
// copy at work.
func (es *Entries) dropShared() {
	for _, c := range es.claimed {
		c.linked = c.entry != nil
	}
	for _, w := range es.unclear {
		w.linked = false
	}
	for again := true; again; {
		again = false
		for _, w := range es.unclear {
			if w.linked || !linked(w.by) {
				continue
			}
			w.linked, again = true, true
			for _, c := range w.by {
				c.linked = true
			}
		}
	}
	keptWrites, keptClaims := es.unclear[:0], es.claimed[:0]
	for _, w := range es.unclear {
		if w.linked {
			keptWrites = append(keptWrites, w)
		} else {
			es.writes.Put(w)
		}
	}
	for _, c := range es.claimed {
		if c.linked {
			keptClaims = append(keptClaims, c)
		} else {
			es.claims.Put(c)
		}
	}
	es.unclear, es.claimed = keptWrites, keptClaims
}

func linked(by []*copyClaim) bool {
	for _, c := range by {
		if c.linked {
			return true
		}
	}
	return false
}

// mayWrite reports whether a copy can have made a write: the bytes of its destination are unwritten, each byte
// came from the same offset of its source (read for this or another entry), no line is cut [D2], and neither
// the order of its queue [D8] nor a fence [D10] forbids it.
func (es *Entries) mayWrite(e *Entry, off int, b []byte) bool {
	p := &e.Plan.Dma
	if !e.Copy.Wrote.Free(off, off+len(b)) || p.WholeLines() && CutsLine(p.Dst, p.Len, off, off+len(b)) {
		return false
	}
	if !e.Fits(off, b) && (e.certain(off, len(b)) || !es.cameSomewhere(e, off, b)) {
		return false
	}
	return es.Before(e) == nil && es.Fence(e, "write") == nil
}

// Writer finds the copy that a write belongs to: one that can have made it, else a copy whose destination contains
// it, preferably one whose source has these bytes. several reports whether several copies can have made it; the
// caller then uses WrittenByAny.
func (es *Entries) Writer(addr uint64, b []byte) (best *Entry, several bool) {
	es.candidates = es.candidates[:0]
	fits := false
	for node := es.Writable.First(addr); node != nil; node = es.Writable.Next(node) {
		if node.Owner.Kind != memory.Copy || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		e := node.Owner.Entry
		off := int(addr - node.Lo)
		if es.mayWrite(e, off, b) {
			es.addCandidate(e)
		}
		if f := e.Fits(off, b); best == nil || f && !fits {
			best, fits = e, f
		}
	}
	if len(es.candidates) > 0 {
		return es.candidates[0], len(es.candidates) > 1
	}
	return best, false
}

// addCandidate adds a copy that can have made the current write. Of several readings (Entry.Alt) of one entry, it
// keeps one: the head of their list, if that is a candidate.
func (es *Entries) addCandidate(e *Entry) {
	for i, o := range es.candidates {
		if !o.sameAs(e) {
			continue
		}
		if e.Queue.Slot(e.Index).Entry == e {
			es.candidates[i] = e
		}
		return
	}
	es.candidates = append(es.candidates, e)
}
