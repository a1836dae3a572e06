package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/rings"
	"nictwin/models/nicspec"
)

// pushed takes a work entry that came with a doorbell: the device may use it
// as it came, or read its slot [W1, W2].
func (r *Referee) pushed(q *txq, index uint16, raw []byte) {
	r.ent.BlockIn(&q.Queue, index, rings.Pushed, raw)
	r.wholeEntries(q)
}

// maybePushed keeps what came with a doorbell that the device may not have
// taken.
func (q *txq) maybePushed(raw []byte) {
	if q.mayPush = raw != nil; q.mayPush {
		copy(q.push[:], raw)
	}
}

// acceptPush settles a doubtful push: what the device does shows that it took
// it. It reports whether there was one.
func (r *Referee) acceptPush(q *txq) bool {
	if !q.doubtful || !q.mayPush {
		return false
	}
	r.accept(q)
	r.pushed(q, q.Ctx.PI-1, q.push[:])
	return true
}

// acceptPushes is acceptPush for all queues.
func (r *Referee) acceptPushes() (any bool) {
	for i := range r.tx.queues {
		any = r.acceptPush(&r.tx.queues[i]) || any
	}
	return any
}

// unread reports whether the slot of a pushed entry may still be read: not
// once its pushed bytes were used [W2].
func (r *Referee) unread(s *attribution.Slot) bool {
	e := s.OwnerOf()
	return s.State == rings.Pushed && (e == nil || !e.Asked && !e.Left || r.ent.Shared(e))
}

// pushedEarly checks that an entry that was pushed while CTRL.tx_enable was 0
// does nothing before it is 1 [W2].
func (r *Referee) pushedEarly(e *attribution.Entry, what string) {
	if e.Pushed && r.tx.offSince <= r.now && int16(e.Index-r.tx.of(e).fetch) >= 0 {
		r.failEntry(e, e.Queue.Domain(), "W2", "tx_enable", "1 when a pushed entry starts", fmt.Sprintf("0, and %s of entry %d", what, e.Index))
	}
}

// endSilent counts an entry that is over at the end of the run and ends without a
// completion entry: one that was pushed, of which nothing shows, and those
// behind it.
func (r *Referee) endSilent(e *attribution.Entry) {
	if e.Plan.Complete {
		return
	}
	r.cnt.May(nicspec.CntTxWqe.Index(), 1)
	if e.Left || !r.tx.of(e).draining && r.tx.offSince == forever {
		r.cnt.Confirm(nicspec.CntTxWqe.Index(), 1)
	}
}

// accept takes a doubtful doorbell of a transmit queue as taken.
func (r *Referee) accept(q *txq) {
	q.rung(q.doubtfulPI, r.now)
	r.fetchable(q)
	if !q.draining {
		r.regs.Txq(q.ID).PI = q.Ctx.PI
	}
	r.roomFor(q, q.Ctx.PI)
}
