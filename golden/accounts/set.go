package accounts

import (
	"math"
	"slices"

	"nictwin/models/nic/nicspec"
)

// beingSet reports whether a write of the table may still be taking effect.
func (a *Account) beingSet(x Around) bool {
	a.Age(x.Oldest)
	if len(a.before) > 0 && x.Now > a.beforeTo {
		a.before = a.before[:0]
		a.doubtTo = x.Now
	}
	return len(a.before) > 0 || a.ToBeSet()
}

// ToBeSet reports whether later frames may still see the account as it was before a table write.
func (a *Account) ToBeSet() bool {
	return slices.ContainsFunc(a.writes, func(w write) bool { return w.set != nil })
}

// turnWhileSet finds and follows a frame that can be next while the account is being set: for the
// account as it is, as it was before, or as it was set. at is the next frame if the account was not
// set. It returns -1 without one.
func (a *Account) turnWhileSet(x Around, at int) int {
	if at >= 0 && a.followDelivered(&a.early[at], x.Unsure) {
		a.took(&a.early[at])
		return at
	}
	for i := range a.early {
		if a.passBefore(&a.early[i], x.Unsure) {
			return i
		}
	}
	for i := range a.early {
		e := &a.early[i]
		was := append(a.spareBefore[:0], a.states...)
		a.spareBefore = was
		if e.Seq == 0 && a.followDelivered(e, x.Unsure) {
			a.before, a.spareBefore = was, a.before
			a.beforeTo, a.setAt = x.Now+x.Linger, a.firstSet(was)
			a.took(e)
			return i
		}
	}
	return -1
}

// firstSet returns the ordinal of the first table write that not all of these states have seen.
func (a *Account) firstSet(states []state) int {
	from := math.MaxInt
	for i := range states {
		from = min(from, states[i].applied-a.gone)
	}
	for ; a.writes[from].set == nil; from++ {
	}
	return a.gone + from
}

// passBefore follows a frame that the account let pass before it was set.
func (a *Account) passBefore(e *Event, unsure bool) bool {
	at := a.setAt - a.gone
	if len(a.before) == 0 || at < 0 || e.Last > a.writes[at].cycle+nicspec.VisibleCycles {
		return false
	}
	now, since, writes := a.states, a.since, a.writes
	a.states, a.since, a.writes = a.before, math.MinInt64, a.writes[:at]
	ok := a.followDelivered(e, unsure)
	a.writes = writes
	a.before, a.states, a.since = a.states, now, since
	return ok
}

// Age applies the writes that every later frame must see; oldest is the cycle of the last beat of
// the oldest frame that may still come.
func (a *Account) Age(oldest int64) {
	for i := range a.early {
		oldest = min(oldest, a.early[i].Last)
	}
	n := 0
	for n < len(a.writes) && a.writes[n].cycle+nicspec.VisibleCycles < oldest {
		n++
	}
	if n == 0 {
		return
	}
	a.before = slices.DeleteFunc(a.before, func(s state) bool {
		return slices.ContainsFunc(a.writes[min(n, s.applied-a.gone):n], func(w write) bool { return w.set != nil })
	})
	for _, states := range [...][]state{a.states, a.before} {
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

func compareStates(x, y state) int {
	for _, d := range [...]int{
		x.applied - y.applied, int(x.Balance) - int(y.Balance), int(x.Seq) - int(y.Seq), int(x.Drawn) - int(y.Drawn),
	} {
		if d != 0 {
			return d
		}
	}
	order := func(s *state) int {
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

// Agrees grades how well an account_seq fits the account: 2 if it is the next one, 1 if some frame
// of the account can have it, 0 if none can.
func (a *Account) Agrees(seq uint32) int {
	switch seq {
	case a.states[0].Seq:
		return 2
	case a.Plausible(seq):
		return 1
	}
	return 0
}

// Plausible returns the account_seq that a completion entry names if a frame of the account can
// have it, else the next one.
func (a *Account) Plausible(seq uint32) uint32 {
	most := uint32(a.Pending + len(a.early) + 1)
	next := a.states[0].Seq
	ok := seq <= most && a.ToBeSet()
	for i := range a.states {
		ok = ok || seq-a.states[i].Seq <= most
	}
	for i := range a.before {
		ok = ok || seq-a.before[i].Seq <= most
	}
	for i := range a.early {
		ok = ok && a.early[i].Seq != seq
	}
	if !ok {
		return next
	}
	return seq
}
