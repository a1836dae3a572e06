package accounts

import (
	"slices"

	"nictwin/golden/counters"
	"nictwin/models/nic/core"
)

// Written notes a write of ACCOUNT_CREDIT or, if set is not nil, of the table that was accepted in a cycle.
func (a *Account) Written(cycle int64, credit uint32, set *core.Account) {
	a.writes = append(a.writes, write{cycle: cycle, credit: credit, set: set})
}

// Delivered notes a frame that the account let pass. Next tells when its turn has come.
func (a *Account) Delivered(e Event) { a.early = append(a.early, e) }

// Around is what is known beside the account when it is asked for the next frame.
type Around struct {
	Now    int64
	Oldest int64 // cycle of the last beat of the oldest frame that may still come; Now if there is none
	Linger int64 // cycles for which frames may come that it let pass before it was set
	Unsure bool  // there are frames of which it is not known where they go
	End    bool  // the run is over
}

// Next is the next delivered frame to be followed; false: there is none yet. While the account is being set it follows
// frames by itself, as far as they can be next.
func (a *Account) Next(x Around) (e Event, ok bool) {
	for len(a.early) > 0 {
		set := a.beingSet(x) // which may show that it was
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

// Seq is the account_seq of the next frame, in one of the states.
func (a *Account) Seq() uint32 { return a.states[0].Seq }

// Left is the first of the frames that were delivered and had no turn.
func (a *Account) Left() (e Event, ok bool) {
	if len(a.early) == 0 {
		return Event{}, false
	}
	return a.early[0], true
}

// turn finds the frame that is next.
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

// After is the frame that was followed last of the port of another, if that came later.
func (a *Account) After(e *Event) (frame uint32, wrong bool) {
	seen := &a.seen[e.Port]
	return seen.frame, seen.any && int32(e.Frame-seen.frame) <= 0
}

// Follow lets the account let a frame pass, whose turn it is. It reports false if no state lets it go that way; the
// states are as before then.
func (a *Account) Follow(e *Event, unsure bool) bool {
	ok := a.pass(e, unsure)
	a.took(e)
	return ok
}

// AsDevice has every state let a frame pass that none could: what follows is held against what the device did.
func (a *Account) AsDevice(e *Event) {
	for i := range a.states {
		s := &a.states[i]
		s.Seq = e.Seq
		s.Draw(!e.Slow && s.Balance > 0)
	}
}

// Dropped follows a frame that the account decided on and that was not delivered, and returns why the states allow
// that.
func (a *Account) Dropped(k Taken) counters.Drops {
	a.frame = k
	if !a.step(&a.frame) {
		return 0
	}
	return a.frame.why
}

// Since says that no frame is taken before a cycle any more.
func (a *Account) Since(cycle int64) { a.since = max(a.since, cycle) }

// WasSet reports whether frames may come that it let pass before it was set.
func (a *Account) WasSet() bool { return len(a.before) > 0 }

// Sure reports whether it is certain that a frame met the account in its turn: nothing that is known says that another
// one did before.
func (a *Account) Sure(port int, frame uint32, last int64) bool {
	seen := &a.seen[port]
	// one that came while the account was being set does not decide those before it
	passed := seen.any && int32(seen.frame-frame) > 0
	return seen.out < last && a.doubtTo < last && !a.WasSet() && !passed
}

// Perhaps lets the account let a frame pass, or not.
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
