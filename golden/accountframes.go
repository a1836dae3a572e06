package golden

import (
	"fmt"

	"nictwin/golden/counters"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// leads reports whether a frame with a verdict can come to a queue.
func leads(v *core.RxVerdict, queue int) bool {
	return v.Drop == core.NoDrop && (int(v.Queue) == queue || v.Account.On && int(v.Account.Queue) == queue)
}

// accountOf is the account that a verdict draws on, nil without one.
func (s *rxSide) accountOf(v *core.RxVerdict) *account {
	if v.Drop != core.NoDrop || !v.Account.On {
		return nil
	}
	return &s.accounts[v.Account.ID]
}

// enterAccount puts a frame where its account decides.
func (r *Referee) enterAccount(a *account, f *rxFrame) {
	slow := r.rx.queue(f.v.Account.Queue)
	f.place = placeAccount
	f.slowPosted, f.slowEpoch = slow.postedBefore(f.first-nicspec.VisibleCycles), slow.epoch
	a.frames[f.port].push(f)
	a.pending++
	r.rx.queue(f.v.Queue).pending++
	if f.v.Account.Queue != f.v.Queue {
		slow.pending++
	}
}

// leaveAccount takes it out again.
func (r *Referee) leaveAccount(f *rxFrame) {
	a := r.rx.accountOf(&f.v)
	a.frames[f.port].remove(f)
	a.pending--
	r.rx.queue(f.v.Queue).pending--
	if f.v.Account.Queue != f.v.Queue {
		r.rx.queue(f.v.Account.Queue).pending--
	}
}

// accountPassedBy decides the frames of a port that one passed which came later
// [A4]: they were dropped.
func (r *Referee) accountPassedBy(a *account, e *accountEvent) {
	if len(a.before) > 0 {
		return // they may be some that it let pass before it was set
	}
	l := &a.frames[e.port]
	for l.head != nil && int32(e.frame-l.head.seq) > 0 {
		f := l.head
		r.leaveAccount(f)
		r.accountDropped(a, f, e)
	}
}

// accountDropped decides a frame that its account decided on, and that was not
// delivered; e is the next one of its port that was, nil if there is none.
func (r *Referee) accountDropped(a *account, f *rxFrame, e *accountEvent) {
	next := func(queue uint16) uint16 {
		if e != nil && int(queue) == e.queue {
			return e.index
		}
		q := r.rx.queue(queue) // those before it may not have shown yet
		return q.ctx.CI + uint16(min(q.pending, 1<<12))
	}
	v := &f.v
	k := &r.rx.taken
	*k = taken{
		last: f.last, out: r.now,
		fast:   r.queueCauses(r.rx.queue(v.Queue), f, v, next(v.Queue)),
		behind: r.queueCauses(r.rx.queue(v.Account.Queue), f, v, next(v.Account.Queue)),
		certain: r.overflowCause(f) == 0 && a.seen[f.port].out < f.last && r.rx.unsure == 0 && a.doubtTo < f.last &&
			len(a.before) == 0 && !f.earlier.Has(nicspec.CntRxDropDisabled) && !a.passed(f),
	}
	if e != nil {
		k.out = e.out
	}
	k.others = !k.certain || a.awaitsOther(f.port, k.out)
	m := counters.Drops(0)
	if a.step(k) {
		m = k.why
	}
	if e != nil {
		a.since = max(a.since, f.last)
	}
	r.dropped(&r.rx.ports[f.port], f, m, e != nil)
}

// awaitsOther reports whether a frame of another port, whose fate is not known, may have been taken by a cycle: ports have no
// order, and a frame that is dropped latches an account, too [A2, A3].
func (a *account) awaitsOther(port int, cycle int64) bool {
	for p := range a.frames {
		if f := a.frames[p].head; p != port && f != nil && f.last <= cycle {
			return true
		}
	}
	return false
}

// passed reports whether a later frame of the same port was followed already: one that came while the account was being
// set does not decide those before it.
func (a *account) passed(f *rxFrame) bool {
	seen := &a.seen[f.port]
	return seen.any && int32(seen.frame-f.seq) > 0
}

// under reports whether a frame came in under the present context of a queue,
// and then the producer index that the queue had surely seen [R9].
func (f *rxFrame) under(q *rxq) (posted uint16, ok bool) {
	switch {
	case q.since >= f.last:
	case f.place == placeQueue || f.place == placeAccount && int(f.v.Queue) == q.id:
		return f.posted, f.epoch == q.epoch
	case f.place == placeAccount:
		return f.slowPosted, f.slowEpoch == q.epoch
	}
	return 0, false
}

// endAccounts follows what is left when the run is over.
func (r *Referee) endAccounts() {
	for i := range r.rx.accounts {
		a := &r.rx.accounts[i]
		r.accountTurns(a, true)
		if len(a.early) > 0 {
			e := &a.early[0]
			r.log.FailOf(e.subject(), r.rx.queue(uint16(e.queue)).domain(), "A4", "account_seq", fmt.Sprintf("every number once: a frame with %d", a.states[0].Seq),
				fmt.Sprintf("%d and no such frame", e.seq), a.describe())
		}
	}
}
