package msix

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// Queue tracks the messages of one queue. Messages.Queue returns it.
type Queue struct {
	domain verdict.Domain
	log    *verdict.Log
	vector core.Vector // the queue sends no messages if its address is 0

	most  core.Moderator // state of the moderation if none of the doubtful messages was this queue's
	least core.Moderator // state of the moderation if all doubtful messages were this queue's

	closing bool  // the queue is being disabled
	closed  int64 // cycle in which the disabling of the queue began
	drained int64 // cycle by which a read has last timed out; equal to `closed` if none has since the disabling began
	leftAt  int64 // cycle in which the oldest surely unreported entry left; valid if there is one
}

// Domain returns the domain of the queue's mismatches.
func (q *Queue) Domain() verdict.Domain { return q.domain }

// ByTime reports whether the vector has a time after which messages fall due [M2].
func (q *Queue) ByTime() bool { return q.vector.Cycles != 0 }

// Enable starts tracking with a new vector.
func (q *Queue) Enable(v *core.Vector) {
	q.Forget()
	q.vector = *v
}

// EntryLeft records that a completion entry of the queue left; event says whether it is an Event.
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

// LeftAt returns the cycle in which the oldest surely unreported entry left, if there is one.
func (q *Queue) LeftAt() int64 { return q.leftAt }

// Unreported returns the number of surely unreported entries.
func (q *Queue) Unreported() int { return q.least.Unreported() }

// DueAt returns the cycle in which a message surely falls due, core.Never if none does.
func (q *Queue) DueAt() int64 { return q.least.DueAt() }

// MayBeDue reports whether a message may be due.
func (q *Queue) MayBeDue(now int64) bool { return q.most.DueAt() <= now }

// Close records that the queue is being disabled: all entries are due [M4].
func (q *Queue) Close(now int64) {
	q.closing, q.closed, q.drained = true, now, now
	q.most.Close(now)
	q.least.Close(now)
}

// Closing reports whether the queue is being disabled.
func (q *Queue) Closing() bool { return q.closing }

// ClosedBy reports whether the queue was already being disabled in a cycle.
func (q *Queue) ClosedBy(cycle int64) bool { return q.closing && cycle >= q.closed }

// Drained returns the cycle in which the disabling of the queue began or, if a read of the queue has timed out since,
// the latest cycle in which that can have happened. The device need not have drained the queue before.
func (q *Queue) Drained() int64 { return q.drained }

// TimedOut records that a read of the queue timed out, in the given cycle at the latest.
func (q *Queue) TimedOut(cycle int64) { q.drained = cycle }

// Sent records that a message was certainly the queue's own.
func (q *Queue) Sent() {
	q.most.Sent()
	q.least.Sent()
}

// MayHaveSent records that the queue may have reported all of its entries, or none: the message may have been
// another queue's.
func (q *Queue) MayHaveSent() { q.least.Sent() }

// Disabled checks at the end of a queue's disabling that no entry is unreported [M4].
func (q *Queue) Disabled() {
	if n := q.least.Unreported(); n > 0 {
		q.log.Fail(q.domain, "M4", "busy", "1 until a message has reported all entries",
			fmt.Sprintf("0, with %d unreported", n))
	}
	q.Forget()
}

// Forget clears the queue: it sends no messages until it is enabled again.
func (q *Queue) Forget() { *q = Queue{domain: q.domain, log: q.log} }

// end checks that no message is missing [M3, M5].
func (q *Queue) end() {
	if at := q.least.DueAt(); at != core.Never {
		q.log.Fail(q.domain, "M3", "message", fmt.Sprintf("one, due in cycle %d: %d entries are unreported", at,
			q.least.Unreported()), "none")
	}
}
