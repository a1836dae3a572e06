package golden

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
)

// badRead is a read of a ring that failed, or may have failed.
type badRead struct {
	first  uint16
	status nicspec.Status
	sure   bool
	cycle  int64 // at which it was known
	from   int64 // in which it may have failed, at the earliest
}

// endEvent checks that a queue whose ring could not be read said so, if that
// was known a while before a cycle: the disabling of the queue, or the end.
func (r *Referee) endEvent(d verdict.Domain, rule string, bad []badRead, seen bool, before int64) {
	if seen || len(bad) == 0 {
		return
	}
	for _, b := range bad {
		if b.sure && b.cycle+nicspec.VisibleCycles < before {
			r.log.Fail(d, rule, "Event", fmt.Sprintf("status %v, index %d", b.status, b.first), "none")
			break
		}
	}
	r.cnt.May(nicspec.CntQueueErr.Index(), 1)
}

// beforeBad reports whether a block comes before all whose reads failed: its
// doorbell was taken, and it ends as usual [T2].
func (q *txq) beforeBad(i uint16) bool {
	for _, b := range q.bad {
		if int16(i-b.first) >= 0 {
			return false
		}
	}
	return true
}

// badAs is a read of a ring that failed, as is known now. A timeout may have come any time since it was due.
func (d *readReq) badAs(s nicspec.Status, sure bool, now int64) badRead {
	b := badRead{first: d.first, status: s, sure: sure, cycle: now, from: now}
	if s == nicspec.StatusCplTimeout {
		b.from = min(now, d.issued+d.tLo)
	}
	return b
}
