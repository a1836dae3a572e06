package golden

import (
	"fmt"

	"nictwin/golden/arrivals"

	"nictwin/golden/attribution"
	"nictwin/golden/cycles"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// queue returns a receive queue, or nil if the build does not have it.
func (s *rxSide) queue(i uint16) *rxq {
	if int(i) >= len(s.queues) {
		return nil
	}
	return &s.queues[i]
}

func (r *Referee) domainOf(d *attribution.Read) verdict.Domain {
	switch {
	case d.Stray:
		return verdict.Device
	case d.Kind == memory.RxRing:
		return verdict.Rxq(int(d.Queue))
	}
	return verdict.Txq(int(d.Queue))
}

// queue returns a transmit queue, or nil if the build does not have it.
func (s *txSide) queue(i uint16) *txq {
	if int(i) >= len(s.queues) {
		return nil
	}
	return &s.queues[i]
}

// of returns the queue of an entry.
func (s *txSide) of(e *attribution.Entry) *txq { return &s.queues[e.Queue.ID] }

// failEntry reports a mismatch that concerns a work entry, and appends the entry's description.
func (r *Referee) failEntry(e *attribution.Entry, d verdict.Domain, rule, field, expected, got string,
	summary ...string) *verdict.Mismatch {
	return r.log.FailOf(e.Subject(), d, rule, field, expected, got, append(summary, e.Describe())...)
}

// eventEntry judges an Event [Q4, T2]; seen says that the queue has sent one before. It returns the new value of
// seen, true.
func (r *Referee) eventEntry(d verdict.Domain, ctx *core.Queue, bad rings.Failures, seen, draining bool,
	data []byte) bool {
	off := int64(forever)
	if draining {
		off = r.bar.drainAt + nicspec.VisibleCycles
	}
	rule, cqe := "Q4", nicspec.CntRxCqe
	if d.Kind == verdict.DomainTxq {
		rule, cqe = "T2", nicspec.CntTxCqe
	}
	got := nicspec.TxCqe(data)
	best, found := rings.Failed{}, false
	for _, b := range append(bad, r.lateReads(d, 0)...) {
		if b.From > off {
			continue // the queue was disabled before the failure [Q5]
		}
		exact := b.Status == got.Status() && b.First == got.Index()
		if !found || exact {
			best, found = b, true
		}
		if exact {
			break
		}
	}
	r.cnt.Step(cqe.Index(), 1, r.now)
	r.cnt.Step(nicspec.CntQueueErr.Index(), 1, r.now)
	switch {
	case !found:
		r.log.Fail(d, rule, "type", "no Event: no read of this ring failed", got.Type().String(), got.String())
	case seen:
		r.log.Fail(d, rule, "type", "one Event", "another", got.String())
	default:
		var want [nicspec.CqeBytes]byte
		core.BuildEvent(uint16(d.Index), best.First, best.Status, ctx.Phase(ctx.CQI), &want)
		if field, e, g, same := nicspec.DiffTxCqe(want[:], data); !same {
			r.log.Fail(d, rule, field, e, g, "got      "+got.String(), "expected "+nicspec.TxCqe(want[:]).String())
		}
	}
	return true
}

// lateReads returns the reads of a queue's ring that may have timed out by now, or will within `soon` cycles.
func (r *Referee) lateReads(d verdict.Domain, soon int64) (out rings.Failures) {
	for i := range r.ent.Out.Tags {
		q := &r.ent.Out.Tags[i]
		if q.Open && !q.Stray && q.Kind != memory.Piece && r.domainOf(q) == d && r.now+soon >= q.Issued+q.TLo {
			out = append(out, rings.Failed{First: q.First, Status: nicspec.StatusCplTimeout, Cycle: q.Issued + q.TLo,
				From: q.Issued + q.TLo})
		}
	}
	return out
}

// endEvent checks that a queue whose ring read failed has sent its Event, if the failure took effect before the
// given cycle: that of the queue's disabling, or the end of the run.
func (r *Referee) endEvent(d verdict.Domain, rule string, bad rings.Failures, seen bool, before int64) {
	if seen || len(bad) == 0 {
		return
	}
	if b := bad.SureBefore(before); b != nil {
		r.log.Fail(d, rule, "Event", fmt.Sprintf("status %v, index %d", b.Status, b.First), "none")
	}
	r.cnt.May(nicspec.CntQueueErr.Index(), 1)
}

// mayHaveFailed counts a queue that may have entered the error state without an Event, since its disabling or a
// reset came first.
func (r *Referee) mayHaveFailed(bad rings.Failures, seen bool) {
	if len(bad) > 0 && !seen {
		r.cnt.May(nicspec.CntQueueErr.Index(), 1)
	}
}

// badReads returns how many queues may have entered the error state unseen.
func (r *Referee) badReads() (n uint64) {
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open && len(q.bad) > 0 && !q.eventSeen {
			n++
		}
	}
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.Open && len(q.bad) > 0 && !q.eventSeen {
			n++
		}
	}
	return n + uint64(r.ent.Out.Open)
}

var ofPayload = memory.Of(memory.Buffer, memory.Copy) // kinds of ranges that the device writes payload to

// Cycles before and after all others.
const (
	never   = cycles.Never
	forever = cycles.Forever
)

// failRx reports a mismatch that concerns a received frame, and appends the frame's description.
func (r *Referee) failRx(f *arrivals.Frame, index int, d verdict.Domain, rule, field, expected, got string,
	summary ...string) *verdict.Mismatch {
	s := verdict.Subject{Frame: f.ID(), Index: index}
	return r.log.FailOf(s, d, rule, field, expected, got, append(summary, f.Describe())...)
}

func (r *Referee) pendingFrames() (n uint64) {
	for i := range r.rx.ports {
		n += uint64(r.rx.ports[i].Undecided.Len())
	}
	return n
}
