package golden

import "nictwin/models/nicspec"

// recentDoorbells holds the cycles of the queue's last eight accepted doorbells,
// latest first. If a ring read fails before one of them took effect [G4], the
// device may or may not count it as DB_BAD.
type recentDoorbells [8]int64

func (f *recentDoorbells) reset() {
	for i := range f {
		f[i] = never
	}
}

func (f *recentDoorbells) note(cycle int64, doubt bool) {
	if doubt {
		return
	}
	copy(f[1:], f[:])
	f[0] = cycle
}

// doubted lets DB_BAD count the doorbells that may not have taken effect yet, and
// forgets all of them.
func (r *Referee) doubted(f *recentDoorbells) {
	for i, cycle := range f {
		if cycle != never && cycle+nicspec.VisibleCycles >= r.now {
			r.cnt.May(nicspec.CntDbBad.Index(), 1)
		}
		f[i] = never
	}
}

// accept takes a doubtful doorbell of a transmit queue as taken.
func (r *Referee) accept(q *txq) {
	q.rung(q.doubtfulPI, r.now)
	r.fetchable(q)
	if !q.draining {
		r.regs.Txq(q.id).PI = q.ctx.PI
	}
	r.roomFor(q, q.ctx.PI)
}
