package accounts

import (
	"math"
	"slices"

	"nictwin/models/nic/nicspec"
)

// setUnderWay reports whether the next frames may see the account before or after a table write: the write's
// window is still open, or frames that reached the account before the write may still be delivered.
func (a *Account) setUnderWay(x RxState) bool {
	a.Age(x.Oldest)
	if len(a.before) > 0 && x.Now > a.beforeTo {
		a.before = a.before[:0]
		a.doubtTo = x.Now
	}
	return len(a.before) > 0 || a.SetPending()
}

// SetPending reports whether a table write was accepted that may not have taken effect yet for the next frames.
func (a *Account) SetPending() bool {
	return slices.ContainsFunc(a.writes, func(w write) bool { return w.set != nil })
}

// turnWhileSet finds the next frame during a table write, and advances the account's possible states by it. It tries,
// in this order: the frame a.early[at], whose account_seq is next; a frame that reached the account before an earlier
// table write; a frame with account_seq 0, which shows that the table write has taken effect. It returns the index of
// the frame, or -1.
func (a *Account) turnWhileSet(x RxState, at int) int {
	if at >= 0 && a.followDelivered(&a.early[at], x.Unsure) {
		a.recordFollowed(&a.early[at])
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
			a.recordFollowed(e)
			return i
		}
	}
	return -1
}

// firstSet returns the number of the first table write that at least one of these states has not seen.
func (a *Account) firstSet(states []state) int {
	from := math.MaxInt
	for i := range states {
		from = min(from, states[i].applied-a.forgotten)
	}
	for ; a.writes[from].set == nil; from++ {
	}
	return a.forgotten + from
}

// passBefore handles a frame that reached the account before its latest table write: it advances the states of that
// time, before the write.
func (a *Account) passBefore(e *Event, unsure bool) bool {
	at := a.setAt - a.forgotten
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
		unseen := a.writes[min(n, s.applied-a.forgotten):n]
		return slices.ContainsFunc(unseen, func(w write) bool { return w.set != nil })
	})
	for _, states := range [...][]state{a.states, a.before} {
		for i := range states {
			s := &states[i]
			for s.applied < a.forgotten+n {
				s.apply(&a.writes[s.applied-a.forgotten])
			}
		}
	}
	slices.SortFunc(a.states, compareStates)
	a.states = slices.Compact(a.states)
	a.writes = a.writes[:copy(a.writes, a.writes[n:])]
	a.forgotten += n
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

// Plausible returns seq, the account_seq in a completion entry, if a frame of the account can have that number. Else it
// returns the number that the account's next frame must have.
func (a *Account) Plausible(seq uint32) uint32 {
	most := uint32(a.Pending + len(a.early) + 1)
	next := a.states[0].Seq
	ok := seq <= most && a.SetPending()
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
