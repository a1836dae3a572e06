package golden

import (
	"nictwin/golden/memory"
	"nictwin/models/nicspec"
)

// replaceFailed gets an entry the bytes of reads that failed, from others that came. It
// reports whether none is left that failed.
func (es *Entries) replaceFailed(e *txEntry) bool {
	for i := range e.count {
		for p := &e.pieces[i]; len(p.bad) > 0; {
			if b := p.bad[0]; !es.obtain(e, i, b.lo, b.hi, nil) && !es.shift(e, i, b) {
				return false
			}
		}
	}
	return e.fails == 0
}

// shift moves a read that failed to other places, without bytes in exchange.
func (es *Entries) shift(e *txEntry, i int, b badPart) bool {
	es.search()
	n := es.uniform(e.pieces[i].bus+uint64(b.lo), b.hi-b.lo)
	return es.leave(place{e, i, b.lo}, n)
}

// gather gets an entry all bytes of its pieces.
func (es *Entries) gather(e *txEntry) bool {
	es.goal = goal{entry: e}
	defer func() { es.goal.entry = nil }()
	for i := range e.count {
		if !es.obtain(e, i, 0, e.pieces[i].len, nil) {
			return false
		}
	}
	return e.fails == 0
}

// assignFailed gives e a read that failed with a status, or may have.
func (es *Entries) assignFailed(e *txEntry, s nicspec.Status) bool {
	if s < nicspec.StatusCplUnsupported || !e.works() {
		return false
	}
	if es.others(e, func(o *txEntry) bool { return es.assignFailedOf(e, o, s) }) {
		return true
	}
	return s == nicspec.StatusCplTimeout && (es.catchLate(e) || es.wasLate(e))
}

// assignFailedOf is assignFailed with a read that is o's so far.
func (es *Entries) assignFailedOf(e, o *txEntry, s nicspec.Status) bool {
	for j := range o.count {
		w := &o.pieces[j]
		for k := range w.bad {
			if b := w.bad[k]; b.status == s && es.catch(e, o, j, b.lo, b.hi) {
				return true
			}
		}
	}
	return false
}

// catch gives e what o has in a range of a piece, or the first part of it for
// which e has a place.
func (es *Entries) catch(e, o *txEntry, j, lo, hi int) bool {
	from, to := o.pieces[j].bus+uint64(lo), o.pieces[j].bus+uint64(hi)
	for i := range e.count {
		p := &e.pieces[i]
		a, b := max(from, p.bus), min(to, p.bus+uint64(p.len))
		for a < b {
			es.search()
			n := es.uniform(a, int(b-a))
			if !e.settledAt(i, int(a-p.bus), n) && es.force(place{e, i, int(a - p.bus)}, place{o, j, int(a - o.pieces[j].bus)}, n) {
				return true
			}
			a += uint64(n)
		}
	}
	return false
}

// catchLate gives e a read under way that may have timed out by now.
func (es *Entries) catchLate(e *txEntry) bool {
	for n := range es.rd.tags {
		d := &es.rd.tags[n]
		if !d.open || d.stray || d.kind != memory.Piece || es.now < d.issued+d.tLo {
			continue
		}
		for k := range d.dest {
			t := d.dest[k]
			if t.entry != nil && !t.entry.sameAs(e) && es.catch(e, t.entry, t.piece, max(t.lo, int(d.next-d.addr)+t.lo-t.from), t.hi) {
				return true
			}
		}
	}
	return false
}

// wasLate reports whether a read that came when it may have timed out can have
// been for e.
func (es *Entries) wasLate(e *txEntry) bool {
	for _, l := range es.late {
		for i := range e.count {
			if p := &e.pieces[i]; l.addr < p.bus+uint64(p.len) && p.bus < l.addr+uint64(l.n) && l.issued >= e.fetched {
				e.possible |= statusBit(nicspec.StatusCplTimeout)
				return true
			}
		}
	}
	return false
}

// assignAnyFailed is assignFailed with whatever status there is.
func (es *Entries) assignAnyFailed(e *txEntry) bool {
	for s := nicspec.StatusCplUnsupported; s <= nicspec.StatusCplMalformed; s++ {
		if es.assignFailed(e, s) {
			return true
		}
	}
	return false
}

// lateReads is the timeout, if a read of the entry may have timed out by now.
func (es *Entries) lateReads(e *txEntry) statusMask {
	if e.reading == 0 {
		return 0
	}
	for i := range es.rd.tags {
		d := &es.rd.tags[i]
		if !d.open || es.now < d.issued+d.tLo {
			continue
		}
		for k := range d.dest {
			if d.dest[k].entry == e {
				return statusBit(nicspec.StatusCplTimeout)
			}
		}
	}
	return 0
}

// spoil gets an entry bytes with which its offloads cannot be done [T7].
func (es *Entries) spoil(e *txEntry) bool {
	bad := func() bool { return e.gathered() && e.finish() == nicspec.StatusBadOffload }
	if !e.plan.Send || !es.gather(e) {
		return false
	}
	p := &e.plan
	return bad() || es.choose(e, []int{p.L3Off, p.L4Off + udpLenAt, p.L4Off + udpLenAt + 1, p.L4Off + bthPadAt}, bad)
}
