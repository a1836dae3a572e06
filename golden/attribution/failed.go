package attribution

import (
	"nictwin/golden/memory"
	"nictwin/models/nic/nicspec"
)

// ReplaceFailed replaces the entry's failed reads by successful ones of other entries. It reports
// whether no failed read remains.
func (es *Entries) ReplaceFailed(e *Entry) bool {
	for i := range e.Count {
		for p := &e.Pieces[i]; len(p.bad) > 0; {
			if b := p.bad[0]; !es.obtain(e, i, b.lo, b.hi, nil) && !es.moveAway(e, i, b) {
				return false
			}
		}
	}
	return e.Fails == 0
}

// moveAway moves the failed read b of e's piece i to another entry, and leaves e's bytes unread. It moves
// only as many of b's bytes, from the first on, as lie in the same pieces and were filled by the same reads (see
// uniform). It reports whether it could.
func (es *Entries) moveAway(e *Entry, i int, b badPart) bool {
	es.beginSearch()
	n := es.uniform(e.Pieces[i].bus+uint64(b.lo), b.hi-b.lo)
	return es.leave(Place{e, i, b.lo}, n)
}

// gather moves reads from other entries until all bytes of e's pieces have come. It reports whether that succeeded
// and no read of e failed.
func (es *Entries) gather(e *Entry) bool {
	es.goal = goal{entry: e}
	defer func() { es.goal.entry = nil }()
	for i := range e.Count {
		if !es.obtain(e, i, 0, e.Pieces[i].len, nil) {
			return false
		}
	}
	return e.Fails == 0
}

// AssignFailed moves a read that failed with a status, or may have, from another entry to e. It reports whether
// there was one.
func (es *Entries) AssignFailed(e *Entry, s nicspec.Status) bool {
	if s < nicspec.StatusCplUnsupported || !e.Works() {
		return false
	}
	if es.others(e, func(o *Entry) bool { return es.assignFailedOf(e, o, s) }) {
		return true
	}
	return s == nicspec.StatusCplTimeout && (es.assignLate(e) || es.wasLate(e))
}

// assignFailedOf is AssignFailed limited to the reads of o.
func (es *Entries) assignFailedOf(e, o *Entry, s nicspec.Status) bool {
	for j := range o.Count {
		w := &o.Pieces[j]
		for k := range w.bad {
			if b := w.bad[k]; b.status == s && es.moveReads(e, o, j, b.lo, b.hi) {
				return true
			}
		}
	}
	return false
}

// moveReads moves o's reads of bytes lo to hi of its piece j to e: the first part of them that fits a place of e.
// It reports whether there was one.
func (es *Entries) moveReads(e, o *Entry, j, lo, hi int) bool {
	from, to := o.Pieces[j].bus+uint64(lo), o.Pieces[j].bus+uint64(hi)
	for i := range e.Count {
		p := &e.Pieces[i]
		a, b := max(from, p.bus), min(to, p.bus+uint64(p.len))
		for a < b {
			es.beginSearch()
			n := es.uniform(a, int(b-a))
			if !e.settledAt(i, int(a-p.bus), n) &&
				es.force(Place{e, i, int(a - p.bus)}, Place{o, j, int(a - o.Pieces[j].bus)}, n) {
				return true
			}
			a += uint64(n)
		}
	}
	return false
}

// assignLate moves an outstanding read that may have timed out by now to e. It reports whether there was one.
func (es *Entries) assignLate(e *Entry) bool {
	for n := range es.Out.Tags {
		d := &es.Out.Tags[n]
		if !d.Open || d.Stray || d.Kind != memory.Piece || es.Now < d.Issued+d.TLo {
			continue
		}
		for k := range d.dest {
			t := d.dest[k]
			if t.Entry != nil && !t.Entry.sameAs(e) &&
				es.moveReads(e, t.Entry, t.piece, max(t.lo, int(d.Next-d.Addr)+t.lo-t.from), t.hi) {
				return true
			}
		}
	}
	return false
}

// wasLate reports whether a read that may have timed out before it completed (lateRead) can have been for e. If so, e
// may have ended with CplTimeout.
func (es *Entries) wasLate(e *Entry) bool {
	for _, l := range es.late {
		for i := range e.Count {
			if p := &e.Pieces[i]; l.addr < p.bus+uint64(p.len) && p.bus < l.addr+uint64(l.n) && l.issued >= e.fetched {
				e.possible |= StatusSet(nicspec.StatusCplTimeout)
				return true
			}
		}
	}
	return false
}

// AssignAnyFailed is AssignFailed for a read that failed with any status.
func (es *Entries) AssignAnyFailed(e *Entry) bool {
	for s := nicspec.StatusCplUnsupported; s <= nicspec.StatusCplMalformed; s++ {
		if es.AssignFailed(e, s) {
			return true
		}
	}
	return false
}

// AssignBadOffload exchanges reads with other entries until e's offloads fail on its bytes [T7]. It reports whether
// that is possible.
func (es *Entries) AssignBadOffload(e *Entry) bool {
	bad := func() bool { return e.gathered() && e.finish() == nicspec.StatusBadOffload }
	if !e.Plan.Send || !es.gather(e) {
		return false
	}
	es.goal = goal{entry: e}
	defer func() { es.goal.entry = nil }()
	p := &e.Plan
	return bad() || es.choose(e, []int{p.L3Off, p.L4Off + udpLenAt, p.L4Off + udpLenAt + 1, p.L4Off + bthPadAt}, bad)
}

// SettleWrite reports whether a copy can have written these bytes. To find out, it exchanges reads with other
// entries, so that the copy's source has these bytes.
func (e *Entry) SettleWrite(es *Entries, addr uint64, b []byte) bool {
	off := int(addr - e.Plan.Dma.Dst)
	return e.Fits(off, b) || e.Copy.Wrote.Free(off, off+len(b)) && es.obtain(e, 0, off, off+len(b), b)
}

// settleFrame reports whether an entry, in one of its readings (Entry.Alt), can have sent a frame. To find out,
// it exchanges reads with other entries, so that the entry has the frame's bytes.
func (es *Entries) settleFrame(e *Entry, data []byte) bool {
	return e.Plan.Send && !e.Left && e.Sized(len(data)) && e.mayDiffer() && es.match(e, data)
}

// supply moves reads from other entries to e so that e can have ended with status Ok: successful reads replace failed
// ones, or fill missing bytes. It returns false if e needs none, or cannot get all that it needs.
func (es *Entries) supply(e *Entry) bool {
	switch {
	case e.Fails != 0:
		return es.ReplaceFailed(e)
	case e.Plan.Send && !e.gathered():
		return es.gather(e)
	}
	return false
}

// SupplyAll is supply for every reading (Entry.Alt) of an entry.
func (es *Entries) SupplyAll(e *Entry) (changed bool) {
	for ; e != nil; e = e.Alt {
		changed = e.Works() && es.supply(e) || changed
	}
	return changed
}

// takeEarliest exchanges the reads of an entry, whose bytes have left the device, for the earliest reads that gave the
// same bytes; the other entries get its later reads. Any entry at work that could have made the earlier of two
// exchanged reads can also have made the later one. So entry e can then be forgotten with its reads, unless a retired
// entry may still need them.
func (es *Entries) takeEarliest(e *Entry) {
	for i := range e.Count {
		p := &e.Pieces[i]
		for at := 0; at < p.len; {
			h := Place{e, i, at}
			c := es.content(h, p.len-at)
			if c.kind != isGot {
				at += c.n
				continue
			}
			n := es.uniform(h.addr(), c.n)
			if o, ok := es.earlier(h, &c, n); ok {
				es.beginSearch()
				mine, other := es.content(h, n), es.content(o, n)
				es.take(h, &mine)
				es.take(o, &other)
				es.give(h, &other)
				es.give(o, &mine)
			}
			at += n
		}
	}
}

// earlier finds the place in other entries whose read brought the same bytes earliest; ok is false if none came
// earlier than the read c of place h.
func (es *Entries) earlier(h Place, c *content, n int) (best Place, ok bool) {
	first := c.issued
	es.places(h.addr(), func(o Place) bool {
		if o.entry.sameAs(h.entry) || o.entry.settledAt(o.piece, o.at, n) {
			return false
		}
		d := es.content(o, n)
		if d.kind != isGot || d.n < n || d.issued >= first || d.issued < h.entry.fetched {
			return false
		}
		p := &h.entry.Pieces[h.piece]
		if h.entry.Buf.Differs(p.off+h.at, o.entry.Buf.Part(o.entry.Pieces[o.piece].off+o.at, n)) >= n {
			best, first, ok = o, d.issued, true
		}
		return false
	})
	return best, ok
}
