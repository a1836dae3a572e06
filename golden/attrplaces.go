package golden

// others calls f for the entries but e that are at work, and those that are
// over, until it returns true.
func (r *Referee) others(e *txEntry, f func(*txEntry) bool) bool {
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		for i := q.oldest; q.open && i != q.ctx.PI; i = q.after(i) {
			for o := q.slot(i).entry; o != nil; o = o.alt {
				if !o.sameAs(e) && f(o) {
					return true
				}
			}
		}
	}
	for k := range r.tx.ghosts.Len() {
		if f(*r.tx.ghosts.At(k)) {
			return true
		}
	}
	return false
}

// holders calls f for each piece of an entry but e that covers n bytes at an
// address, until f returns true: of those at work, and of those that are over.
func (r *Referee) holders(e *txEntry, addr uint64, n int, f func(place) bool) bool {
	return r.places(addr, func(h place) bool {
		o := h.entry
		return !o.left && (e == nil || !o.sameAs(e)) && h.at+n <= o.pieces[h.piece].len && f(h)
	})
}

// shared reports whether what was read for an entry may have been read for
// another.
func (r *Referee) shared(e *txEntry) bool {
	for i := range e.count {
		for _, v := range e.pieces[i].asked.s {
			if !r.holders(e, e.pieces[i].bus+uint64(v.lo), v.hi-v.lo, func(place) bool { return true }) {
				return false
			}
		}
	}
	return true
}
