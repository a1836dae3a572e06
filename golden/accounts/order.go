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

// RxState is the state of the rest of the receive side that an account needs to find the next frame.
type RxState struct {
	Now    int64
	Oldest int64 // cycle of the last beat of the oldest undecided frame, else Now
	Linger int64 // cycles after a table write in which frames from before it may still be delivered
	Unsure bool  // some undecided frames may belong to more than one queue or account
	End    bool  // no more frames come
}

// Next returns the next delivered frame in the order of account_seq; ok is false if its delivery has not come yet.
// During a table write, Next itself advances the account's possible states by each frame that can be next, and does
// not return it.
func (a *Account) Next(x RxState) (e Event, ok bool) {
	for len(a.early) > 0 {
		set := a.setUnderWay(x) // first: it applies writes that have taken effect by now
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

// Seq returns the account_seq expected next, in the first of the possible states.
func (a *Account) Seq() uint32 { return a.states[0].Seq }

// Left returns the first delivered frame whose turn in the order of account_seq never came.
func (a *Account) Left() (e Event, ok bool) {
	if len(a.early) == 0 {
		return Event{}, false
	}
	return a.early[0], true
}

// turn returns the index of the delivered frame that is next, -1 if it has not come yet.
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

// After returns the number of the latest frame of e's port that advanced the account's possible states; wrong reports
// that e came in before that frame.
func (a *Account) After(e *Event) (frame uint32, wrong bool) {
	seen := &a.seen[e.Port]
	return seen.frame, seen.any && int32(e.Frame-seen.frame) <= 0
}

// Follow advances the account's possible states by a delivered frame, the next in the order of account_seq. It
// reports false, and keeps the states, if no state allows the path that the frame took.
func (a *Account) Follow(e *Event, unsure bool) bool {
	ok := a.followDelivered(e, unsure)
	a.recordFollowed(e)
	return ok
}

// ForcePass is Follow for a delivered frame that no state allows: it advances the possible states as if each allowed
// the frame, so that later frames are compared with the device's own choice.
func (a *Account) ForcePass(e *Event) {
	for i := range a.states {
		s := &a.states[i]
		s.Seq = e.Seq
		s.Draw(!e.Slow && s.Balance > 0)
	}
}

// Dropped advances the account's possible states by a frame that the account decided on and that was not delivered.
// It returns the drop causes that these states allow.
func (a *Account) Dropped(k FrameFacts) counters.Drops {
	a.current = k
	if !a.step(&a.current) {
		return 0
	}
	return a.current.why
}

// NotBefore records that no more frames reach the account before a cycle.
func (a *Account) NotBefore(cycle int64) { a.since = max(a.since, cycle) }

// OldFramesPending reports whether frames may still be delivered that reached the account before its latest
// table write.
func (a *Account) OldFramesPending() bool { return len(a.before) > 0 }

// Sure reports whether a frame certainly reached the account in its turn: no frame with unknown fate can have
// reached it earlier.
func (a *Account) Sure(port int, frame uint32, last int64) bool {
	seen := &a.seen[port]
	// a later frame of this port has advanced the possible states while this one was undecided: a table write was
	// under way
	passed := seen.any && int32(seen.frame-frame) > 0
	return seen.out < last && a.doubtTo < last && !a.OldFramesPending() && !passed
}

// PassMaybe keeps both possibilities: the account let the frame pass, or the frame never reached it.
func (a *Account) PassMaybe(k FrameFacts) {
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
