package accounts

import (
	"slices"

	"nictwin/golden/counters"
	"nictwin/models/nic/core"
)

// Written records a write that was accepted in a cycle: of the table if set is not nil, else of
// ACCOUNT_CREDIT.
func (a *Account) Written(cycle int64, credit uint32, set *core.Account) {
	a.writes = append(a.writes, write{cycle: cycle, credit: credit, set: set})
}

// Delivered records a frame that the account let pass. Next returns it when its turn has come.
func (a *Account) Delivered(e Event) { a.early = append(a.early, e) }

// Around is the state of the rest of the receive side that an account needs to find the next frame.
type Around struct {
	Now    int64
	Oldest int64 // last beat of the oldest frame that may still come, else Now
	Linger int64 // for how long frames may come that passed before the account was set
	Unsure bool  // some frames may go to more than one place
	End    bool  // the run is over
}

// Next returns the next delivered frame to follow; ok is false if its turn has not come yet. While
// the account is being set, Next follows frames itself, as far as they can be next.
func (a *Account) Next(x Around) (e Event, ok bool) {
	for len(a.early) > 0 {
		set := a.beingSet(x) // may show that it was set
		at := a.turn()
		if !set || x.End {
			if at < 0 {
				return Event{}, false
			}
			return a.takeEarly(at), true
		}
		if at = a.turnWhileSet(x, at); at < 0 {
			return Event{}, false
		}
		a.takeEarly(at)
	}
	return Event{}, false
}

// Seq returns the account_seq of the next frame, in one of the states.
func (a *Account) Seq() uint32 { return a.states[0].Seq }

// Left returns the first delivered frame that never had its turn.
func (a *Account) Left() (e Event, ok bool) {
	if len(a.early) == 0 {
		return Event{}, false
	}
	return a.early[0], true
}

// turn returns the index of the frame that is next, -1 if it has not come yet.
func (a *Account) turn() int {
	at := -1
	for i := range a.early {
		for k := range a.states {
			if seq := a.early[i].Seq; seq == a.states[k].Seq && (at < 0 || seq < a.early[at].Seq) {
				at = i
			}
		}
	}
	return at
}

func (a *Account) takeEarly(i int) Event {
	e := a.early[i]
	a.early = append(a.early[:i], a.early[i+1:]...)
	return e
}

// After returns the frame of e's port that was followed last, and reports as wrong if that one came
// after e.
func (a *Account) After(e *Event) (frame uint32, wrong bool) {
	seen := &a.seen[e.Port]
	return seen.frame, seen.any && int32(e.Frame-seen.frame) <= 0
}

// Follow lets a frame pass whose turn it is. It reports false, and keeps the states, if no state
// allows the frame's path.
func (a *Account) Follow(e *Event, unsure bool) bool {
	ok := a.followDelivered(e, unsure)
	a.took(e)
	return ok
}

// AsDevice makes every state let a frame pass that none allows, so that later frames are compared
// with the device's own choice.
func (a *Account) AsDevice(e *Event) {
	for i := range a.states {
		s := &a.states[i]
		s.Seq = e.Seq
		s.Draw(!e.Slow && s.Balance > 0)
	}
}

// Dropped follows a frame that the account decided on and that was not delivered. It returns the
// causes that the states allow.
func (a *Account) Dropped(k Taken) counters.Drops {
	a.frame = k
	if !a.step(&a.frame) {
		return 0
	}
	return a.frame.why
}

// Since records that the account takes no frame before a cycle any more.
func (a *Account) Since(cycle int64) { a.since = max(a.since, cycle) }

// WasSet reports whether frames may still come that passed before the account was set.
func (a *Account) WasSet() bool { return len(a.before) > 0 }

// Sure reports whether a frame certainly met the account in its turn, that is, no known frame may
// have met it earlier.
func (a *Account) Sure(port int, frame uint32, last int64) bool {
	seen := &a.seen[port]
	// a later frame does not decide those before it if it came while the account was being set
	passed := seen.any && int32(seen.frame-frame) > 0
	return seen.out < last && a.doubtTo < last && !a.WasSet() && !passed
}

// Perhaps keeps both possibilities: the account let the frame pass, or it did not.
func (a *Account) Perhaps(k Taken) {
	without := slices.Clone(a.states)
	if !a.step(&k) {
		return
	}
	for _, s := range without {
		if !slices.Contains(a.states, s) {
			a.states = append(a.states, s)
		}
	}
}
