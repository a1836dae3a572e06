package golden

import (
	"math"
	"slices"

	"nictwin/models/nicspec"
)

// An account that the table sets anew begins again at account_seq 0, while
// frames that it had let pass before may still be on their way to their ring.

// beingSet reports whether it is not certain that such a write is over.
func (r *Referee) beingSet(a *account) bool {
	r.ageAccount(a)
	if len(a.before) > 0 && r.now > a.beforeTo {
		a.before = a.before[:0]
		a.doubtTo = r.now
	}
	return len(a.before) > 0 || a.toBeSet()
}

// toBeSet reports whether frames may still see the account as it was before it
// was set.
func (a *account) toBeSet() bool {
	return slices.ContainsFunc(a.writes, func(w accountWrite) bool { return w.set != nil })
}

// turnWhileSet finds and follows a frame that can be next: of the account as it
// is, as it was, or as it was set. at is the one that is next, if it was not
// set. It returns -1 if there is none.
func (r *Referee) turnWhileSet(a *account, at int) int {
	if at >= 0 && r.accountStep(a, &a.early[at]) {
		a.took(&a.early[at])
		return at
	}
	for i := range a.early {
		if r.passBefore(a, &a.early[i]) {
			return i
		}
	}
	for i := range a.early {
		e := &a.early[i]
		was := append(a.spareBefore[:0], a.states...)
		a.spareBefore = was
		if e.seq == 0 && r.accountStep(a, e) {
			a.before, a.spareBefore = was, a.before
			a.beforeTo, a.setAt = r.now+r.cfg.LingerCycles, a.firstSet(was)
			a.took(e)
			return i
		}
	}
	return -1
}

// firstSet is the ordinal of the first table write that not all of these states
// have seen.
func (a *account) firstSet(states []accountState) int {
	from := math.MaxInt
	for i := range states {
		from = min(from, states[i].applied-a.gone)
	}
	for ; a.writes[from].set == nil; from++ {
	}
	return a.gone + from
}

// passBefore follows a frame that the account let pass before it was set.
func (r *Referee) passBefore(a *account, e *accountEvent) bool {
	at := a.setAt - a.gone
	if len(a.before) == 0 || at < 0 || e.last > a.writes[at].cycle+nicspec.VisibleCycles {
		return false
	}
	now, since, writes := a.states, a.since, a.writes
	a.states, a.since, a.writes = a.before, math.MinInt64, a.writes[:at]
	ok := r.accountStep(a, e)
	a.writes = writes
	a.before, a.states, a.since = a.states, now, since
	return ok
}

// ageAccount applies the writes that every frame to come must see.
func (r *Referee) ageAccount(a *account) {
	oldest := r.now
	for i := range r.rx.ports {
		if p := &r.rx.ports[i]; p.tab.Len() > 0 {
			oldest = min(oldest, (*p.tab.Front()).last)
		}
	}
	for i := range a.early {
		oldest = min(oldest, a.early[i].last)
	}
	n := 0
	for n < len(a.writes) && a.writes[n].cycle+nicspec.VisibleCycles < oldest {
		n++
	}
	if n == 0 {
		return
	}
	a.before = slices.DeleteFunc(a.before, func(s accountState) bool {
		return slices.ContainsFunc(a.writes[min(n, s.applied-a.gone):n], func(w accountWrite) bool { return w.set != nil })
	})
	for _, states := range [...][]accountState{a.states, a.before} {
		for i := range states {
			s := &states[i]
			for s.applied < a.gone+n {
				s.apply(&a.writes[s.applied-a.gone])
			}
		}
	}
	slices.SortFunc(a.states, compareStates)
	a.states = slices.Compact(a.states)
	a.writes = a.writes[:copy(a.writes, a.writes[n:])]
	a.gone += n
}

func compareStates(x, y accountState) int {
	for _, d := range [...]int{
		x.applied - y.applied, int(x.Balance) - int(y.Balance), int(x.Seq) - int(y.Seq), int(x.Drawn) - int(y.Drawn),
	} {
		if d != 0 {
			return d
		}
	}
	order := func(s *accountState) int {
		n := 0
		if s.Slow {
			n++
		}
		if s.Latch {
			n += 2
		}
		return n
	}
	return order(&x) - order(&y)
}

// agrees tells how well an account_seq goes with the account: 2 when it is the
// next one, 1 when a frame of it can have it, 0 when none can.
func (a *account) agrees(seq uint32) int {
	switch seq {
	case a.states[0].Seq:
		return 2
	case a.plausible(seq):
		return 1
	}
	return 0
}

// plausible returns the account_seq that a completion entry names, if a frame
// of the account can have it; else the next one.
func (a *account) plausible(seq uint32) uint32 {
	most := uint32(a.pending + len(a.early) + 1)
	next := a.states[0].Seq
	ok := seq <= most && a.toBeSet()
	for i := range a.states {
		ok = ok || seq-a.states[i].Seq <= most
	}
	for i := range a.before {
		ok = ok || seq-a.before[i].Seq <= most
	}
	for i := range a.early {
		ok = ok && a.early[i].seq != seq
	}
	if !ok {
		return next
	}
	return seq
}
