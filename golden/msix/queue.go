package msix

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// Queue is what is known of a queue's messages. It comes from Messages.Queue.
type Queue struct {
	domain verdict.Domain
	log    *verdict.Log
	vector core.Vector // without an address the queue sends none

	most  core.Moderator // as if the doubtful messages had been others'
	least core.Moderator // as if they had been the queue's own

	closing bool  // the queue is being disabled,
	closed  int64 // since this cycle
	drained int64 // a read of it timed out by this cycle
	leftAt  int64 // a surely unreported entry left in this cycle, if there is one
}

// Domain is where the queue's mismatches belong.
func (q *Queue) Domain() verdict.Domain { return q.domain }

// ByTime reports whether messages fall due by time as well [M2].
func (q *Queue) ByTime() bool { return q.vector.Cycles != 0 }

// Enable starts over with a vector.
func (q *Queue) Enable(v *core.Vector) {
	q.Forget()
	q.vector = *v
}

// EntryLeft notes that a completion entry of the queue left, an Event or not.
func (q *Queue) EntryLeft(event bool, now int64) {
	if q.vector.Addr == 0 {
		return
	}
	if q.least.Unreported() == 0 {
		q.leftAt = now
	}
	q.most.Wrote(&q.vector, event, now)
	q.least.Wrote(&q.vector, event, now)
}

// LeftAt is the cycle in which the oldest entry left that is surely unreported,
// if there is one.
func (q *Queue) LeftAt() int64 { return q.leftAt }

// Unreported is how many entries are surely unreported.
func (q *Queue) Unreported() int { return q.least.Unreported() }

// DueAt is the cycle in which a message surely falls due, core.Never if none does.
func (q *Queue) DueAt() int64 { return q.least.DueAt() }

// MayBeDue reports whether a message may be due.
func (q *Queue) MayBeDue(now int64) bool { return q.most.DueAt() <= now }

// Close notes that the queue is being disabled: all entries are due [M4].
func (q *Queue) Close(now int64) {
	q.closing, q.closed, q.drained = true, now, now
	q.most.Close(now)
	q.least.Close(now)
}

// Closing reports whether the queue is being disabled.
func (q *Queue) Closing() bool { return q.closing }

// ClosedBy reports whether the queue was being disabled in a cycle.
func (q *Queue) ClosedBy(cycle int64) bool { return q.closing && cycle >= q.closed }

// Drained is the cycle by which reads of the queue were over, as far as those tell
// that timed out since it is being disabled.
func (q *Queue) Drained() int64 { return q.drained }

// TimedOut notes that a read of the queue timed out by a cycle.
func (q *Queue) TimedOut(cycle int64) { q.drained = cycle }

// Sent takes a message as the queue's own.
func (q *Queue) Sent() {
	q.most.Sent()
	q.least.Sent()
}

// MayHaveSent says that a message, or none, may have reported all entries.
func (q *Queue) MayHaveSent() { q.least.Sent() }

// Disabled checks that nothing is left to report when the disabling is over [M4].
func (q *Queue) Disabled() {
	if n := q.least.Unreported(); n > 0 {
		q.log.Fail(q.domain, "M4", "busy", "1 until a message has reported all entries",
			fmt.Sprintf("0, with %d unreported", n))
	}
	q.Forget()
}

// Forget owes nothing any more: the queue sends no messages until it is enabled.
func (q *Queue) Forget() { *q = Queue{domain: q.domain, log: q.log} }

// end checks that no message is missing [M3, M5].
func (q *Queue) end() {
	if at := q.least.DueAt(); at != core.Never {
		q.log.Fail(q.domain, "M3", "message", fmt.Sprintf("one, due in cycle %d: %d entries are unreported", at,
			q.least.Unreported()), "none")
	}
}
