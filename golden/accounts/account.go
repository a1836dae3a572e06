package accounts

import (
	"fmt"
	"math"
	"slices"

	"nictwin/golden/counters"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Account holds every state that a credit account may be in. Make it with New.
type Account struct {
	// Pending counts the frames that have neither been delivered nor dropped yet and for which that depends on this
	// account alone. The caller, who holds them, keeps it up to date.
	Pending int

	id        int
	states    []state
	spare     []state
	writes    []write    // accepted, but possibly not in effect yet
	forgotten int        // number of writes removed from the front of writes
	since     int64      // the next frame reaches the account in this cycle or later
	early     []Event    // delivered frames that wait for one with a lower account_seq
	seen      []latest   // by port: last frame that advanced the possible states
	current   FrameFacts // frame that is advancing the possible states

	// States before table write number setAt took effect, kept until cycle beforeTo, while frames that reached
	// the account before that write may still be delivered.
	before      []state
	spareBefore []state
	beforeTo    int64
	setAt       int
	doubtTo     int64 // for frames up to this cycle, Sure returns false
}

// state is one state that an account may be in.
type state struct {
	core.Account
	applied int // number of writes applied
}

// write is a write of ACCOUNT_CREDIT or of the account's table entry.
type write struct {
	cycle  int64
	credit uint32
	set    *core.Account // new contents, for a write of the table; else nil
}

// Event is the delivery of a frame that drew on an account.
type Event struct {
	Seq   uint32 // account_seq
	Slow  bool
	Port  int
	Frame uint32 // the frame's ordinal on its port
	Last  int64  // cycle of the frame's last beat
	Out   int64  // cycle of the frame's completion entry
	Queue int
	Index uint16 // descriptor index
}

// latest is the last frame of one port that advanced the account's possible states.
type latest struct {
	any   bool
	frame uint32
	out   int64 // cycle of the latest completion entry of a frame of another port
}

// never is a cycle before all others.
const never = math.MinInt64

// New returns the accounts of a device after reset, none if its build lacks them.
func New(build *nicspec.Build) []Account {
	if !build.Has(nicspec.PartAccounts) {
		return nil
	}
	all := make([]Account, nicspec.NumAccounts)
	for i := range all {
		all[i] = Account{id: i, states: make([]state, 1), since: never, doubtTo: never,
			seen: make([]latest, build.Ports)}
		for p := range all[i].seen {
			all[i].seen[p].out = never
		}
	}
	return all
}

func (s *state) apply(w *write) {
	if w.set != nil {
		s.Account = *w.set
	} else {
		s.Credit(w.credit)
	}
	s.applied++
}

// FrameFacts holds what is known of one frame that reached the account: if Drew is set, it was delivered with
// Seq and Slow; else it was dropped, for one of FastCauses or SlowCauses.
type FrameFacts struct {
	Last, Out int64 // earliest and latest cycle in which the frame can have reached the account
	Others    bool  // undecided frames may have reached the account first, and switched it to the slow path

	Drew bool
	Seq  uint32 // account_seq
	Slow bool

	FastCauses, SlowCauses counters.Drops // possible drop causes on each path
	Certain                bool           // the frame certainly reached the account, no undecided frame before it
	why                    counters.Drops // causes that the account's possible states allow
}

// advance moves a state past the frame. It reports false if the state does not allow the frame.
func (k *FrameFacts) advance(s *state) bool {
	if k.Drew {
		if s.Seq != k.Seq || s.Look() == k.Slow {
			return false
		}
		s.Draw(!k.Slow)
		return true
	}
	why := k.FastCauses | k.SlowCauses
	if k.Certain {
		if why = k.SlowCauses; s.Look() {
			why = k.FastCauses
		}
	}
	k.why |= why
	return why != 0
}

// step replaces the account's possible states by their successors after a frame. It reports false, and changes
// nothing, if there are none.
func (a *Account) step(k *FrameFacts) bool {
	a.spare = a.spare[:0]
	k.Last = max(k.Last, a.since)
	for i := range a.states {
		a.expand(a.states[i], k)
	}
	if len(a.spare) == 0 {
		return false
	}
	a.states, a.spare = a.spare, a.states
	return true
}

// expand adds the successors of one state after a frame. The frame may have reached the account before or after each
// write whose window is open, and frames before it may have switched a latching account to the slow path [A2].
func (a *Account) expand(s state, k *FrameFacts) {
	for {
		at := s.applied - a.forgotten
		if at >= len(a.writes) || a.writes[at].cycle+nicspec.VisibleCycles >= k.Last {
			if next := s; k.advance(&next) && !slices.Contains(a.spare, next) {
				a.spare = append(a.spare, next)
			}
		}
		if k.Others && s.Latch && !s.Slow && !s.Fast() {
			latched := s
			latched.Slow = true
			a.expand(latched, k)
		}
		if at >= len(a.writes) || a.writes[at].cycle > k.Out {
			return
		}
		s.apply(&a.writes[at])
	}
}

// recordFollowed records e as the latest frame of its port that advanced the account's possible states.
func (a *Account) recordFollowed(e *Event) {
	a.since = max(a.since, e.Last)
	a.seen[e.Port].any, a.seen[e.Port].frame = true, e.Frame
	for p := range a.seen {
		if p != e.Port {
			a.seen[p].out = e.Out
		}
	}
}

// Describe returns the possible states of the account as text.
func (a *Account) Describe() string {
	s := fmt.Sprintf("account %d", a.id)
	for i := range min(len(a.states), 4) {
		x := &a.states[i]
		s += fmt.Sprintf("; balance %d, latch %v, slow %v, seq %d", x.Balance, x.Latch, x.Slow, x.Seq)
		if n := len(a.writes) + a.forgotten - x.applied; n > 0 {
			s += fmt.Sprintf(", %d writes to come", n)
		}
	}
	return s
}

// followDelivered advances the account's possible states by a delivered frame. unsure says that frames which the
// caller cannot assign to a queue yet may have reached the account first. It reports false, and changes nothing, if
// no state allows the frame.
func (a *Account) followDelivered(e *Event, unsure bool) bool {
	a.current = FrameFacts{Last: e.Last, Out: e.Out, Others: a.Pending > 0 || unsure,
		Drew: true, Seq: e.Seq, Slow: e.Slow}
	return a.step(&a.current)
}
