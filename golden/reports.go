package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// reports is what is known of a queue's messages [M2..M4]. Queues may send the
// same one: then it cannot be seen whose it was.
type reports struct {
	most  core.Moderator // as if the doubtful messages had been others'
	least core.Moderator // as if they had been the queue's own

	closing bool  // the queue is being disabled,
	closed  int64 // since this cycle
	ended   int64 // a read of it timed out by this cycle
	leftAt  int64 // surely unreported entry left in this cycle, if there is one
}

func (w *reports) reset() { *w = reports{} }

// closeReports notes that the queue is being disabled [M4].
func (r *Referee) closeReports(w *reports) {
	w.closing, w.closed, w.ended = true, r.now, r.now
	w.most.Close(r.now)
	w.least.Close(r.now)
}

// messageRange enters or removes where a queue's messages go.
func (r *Referee) messageRange(addr uint64, o attribution.Owner, enter bool) {
	if enter {
		r.ent.Writable.Add(addr, wordBytes, o)
	} else {
		r.ent.Writable.Remove(addr, wordBytes, o)
	}
}

// closedReports checks that nothing is left to report when the disabling of a
// queue is over [M4].
func (r *Referee) closedReports(w *reports, d verdict.Domain) {
	if n := w.least.Unreported(); n > 0 {
		r.log.Fail(d, "M4", "busy", "1 until a message has reported all entries", fmt.Sprintf("0, with %d unreported", n))
	}
	w.reset()
}
