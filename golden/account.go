package golden

import (
	"fmt"
	"slices"

	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// account is what is known of a credit account. account_seq orders the frames
// that it let pass [A4]; they are followed in that order, and every state is
// kept that the account can be in, given that a write may be seen at any time
// within its window [A5].
type account struct {
	id      int
	states  []accountState
	spare   []accountState
	writes  []accountWrite // accepted, not certain to have taken effect
	gone    int            // writes before these
	since   int64          // the next frame is taken in this cycle or later
	frames  []frameList    // by port: what this account alone decides on
	pending int            // frames in frames
	early   []accountEvent // delivered, before one that goes first
	seen    []accountSeen  // by port

	before      []accountState // what it was before it was set, of which frames may still come
	spareBefore []accountState
	beforeTo    int64 // cycle until which they may
	setAt       int   // ordinal of the write
	doubtTo     int64 // frames that came before were taken nobody knows when
}

// accountState is one state that an account can be in.
type accountState struct {
	core.Account
	applied int // writes
}

// accountWrite is a write of ACCOUNT_CREDIT, or of the table.
type accountWrite struct {
	cycle  int64
	credit uint32
	set    *core.Account // not nil: of the table
}

// accountEvent is a frame that was delivered.
type accountEvent struct {
	seq   uint32
	slow  bool
	port  int
	frame uint32 // ordinal on its port
	last  int64  // cycle of its last beat
	out   int64  // cycle of its completion entry
	queue int
	index uint16 // descriptor
}

// accountSeen is the latest frame of a port that an account let pass.
type accountSeen struct {
	any   bool
	frame uint32
	out   int64 // latest completion entry of a frame of any other port
}

func newAccounts(build *nicspec.Build) []account {
	if !build.Has(nicspec.PartAccounts) {
		return nil
	}
	all := make([]account, nicspec.NumAccounts)
	for i := range all {
		all[i] = account{
			id: i, states: make([]accountState, 1), since: never, doubtTo: never,
			frames: make([]frameList, build.Ports), seen: make([]accountSeen, build.Ports),
		}
		for p := range all[i].seen {
			all[i].seen[p].out = never
		}
	}
	return all
}

func (s *accountState) apply(w *accountWrite) {
	if w.set != nil {
		s.Account = *w.set
	} else {
		s.Credit(w.credit)
	}
	s.applied++
}

// taken is a frame that an account decided on.
type taken struct {
	last, out int64 // it was taken between these cycles
	others    bool  // frames that are not known to be delivered may have been, too

	drew bool // it was delivered:
	seq  uint32
	slow bool

	fast, behind counters.Drops // it was dropped: why it may have been, on the fast and on the slow way
	certain      bool           // the account decided on it, and in its turn
	why          counters.Drops // of the states that allow it
}

// leads moves a state past the frame. It reports false if the frame does not
// agree with it.
func (k *taken) leads(s *accountState) bool {
	if k.drew {
		if s.Seq != k.seq || s.Look() == k.slow {
			return false
		}
		s.Draw(!k.slow)
		return true
	}
	why := k.fast | k.behind
	if k.certain {
		if why = k.behind; s.Look() {
			why = k.fast
		}
	}
	k.why |= why
	return why != 0
}

// step replaces the states by those that a frame leads to. It reports false,
// and changes nothing, if there is none.
func (a *account) step(k *taken) bool {
	a.spare = a.spare[:0]
	k.last = max(k.last, a.since)
	for i := range a.states {
		a.expand(a.states[i], k)
	}
	if len(a.spare) == 0 {
		return false
	}
	a.states, a.spare = a.spare, a.states
	return true
}

// expand follows a frame from one state on: it may have been taken before or
// after each write, within its window. Others that were taken before it may
// have latched the account.
func (a *account) expand(s accountState, k *taken) {
	for {
		at := s.applied - a.gone
		if at >= len(a.writes) || a.writes[at].cycle+nicspec.VisibleCycles >= k.last {
			if next := s; k.leads(&next) && !slices.Contains(a.spare, next) {
				a.spare = append(a.spare, next)
			}
		}
		if k.others && s.Latch && !s.Slow && !s.Fast() {
			latched := s
			latched.Slow = true
			a.expand(latched, k)
		}
		if at >= len(a.writes) || a.writes[at].cycle > k.out {
			return
		}
		s.apply(&a.writes[at])
	}
}

// accountWritten notes a write that was accepted.
func (r *Referee) accountWritten(i int, credit uint32, set *core.Account) {
	a := &r.rx.accounts[i]
	r.ageAccount(a)
	a.writes = append(a.writes, accountWrite{cycle: r.now, credit: credit, set: set})
}

// accountDelivered notes a frame that an account let pass, and follows those
// whose turn has come.
func (r *Referee) accountDelivered(a *account, e accountEvent) {
	a.early = append(a.early, e)
	r.accountTurns(a, false)
}

func (r *Referee) accountTurns(a *account, end bool) {
	for len(a.early) > 0 {
		set := r.beingSet(a) // which may show that it was
		at := a.turn()
		if set && !end {
			if at = r.turnWhileSet(a, at); at < 0 {
				return
			}
			a.takeEarly(at)
			continue
		}
		if at < 0 {
			return
		}
		e := a.takeEarly(at)
		r.accountTurn(a, &e)
	}
}

// turn finds the frame that is next.
func (a *account) turn() int {
	at := -1
	for i := range a.early {
		for k := range a.states {
			if seq := a.early[i].seq; seq == a.states[k].Seq && (at < 0 || seq < a.early[at].seq) {
				at = i
			}
		}
	}
	return at
}

func (a *account) takeEarly(i int) accountEvent {
	e := a.early[i]
	a.early = append(a.early[:i], a.early[i+1:]...)
	return e
}

// subject is the frame that the event is about.
func (e *accountEvent) subject() verdict.Subject {
	return verdict.Subject{Frame: &verdict.FrameID{Port: e.port, N: e.frame}, Index: int(e.index)}
}

// accountTurn follows one frame that an account let pass.
func (r *Referee) accountTurn(a *account, e *accountEvent) {
	if seen := &a.seen[e.port]; seen.any && int32(e.frame-seen.frame) <= 0 {
		r.log.FailOf(e.subject(), r.rx.queue(uint16(e.queue)).domain(), "A4", "account_seq", fmt.Sprintf("the frames of port %d in their order", e.port),
			fmt.Sprintf("frame %d after frame %d", e.frame, seen.frame), a.describe())
	}
	r.accountPassedBy(a, e)
	if !r.accountStep(a, e) {
		r.failAccount(a, e)
	}
	a.took(e)
}

// accountStep lets an account let a frame pass. It reports false, and changes
// nothing, if it cannot.
func (r *Referee) accountStep(a *account, e *accountEvent) bool {
	k := &r.rx.taken
	*k = taken{last: e.last, out: e.out, others: a.pending > 0 || r.rx.unsure > 0, drew: true, seq: e.seq, slow: e.slow}
	return a.step(k)
}

// took notes that a frame was followed.
func (a *account) took(e *accountEvent) {
	a.since = max(a.since, e.last)
	a.seen[e.port].any, a.seen[e.port].frame = true, e.frame
	for p := range a.seen {
		if p != e.port {
			a.seen[p].out = e.out
		}
	}
}

var pathNames = map[bool]string{false: "the fast way", true: "the slow way"}

// failAccount reports a frame that went a way that no state of its account
// allows, and lets the account follow the device.
func (r *Referee) failAccount(a *account, e *accountEvent) {
	r.log.FailOf(e.subject(), r.rx.queue(uint16(e.queue)).domain(), "A2", "slow_path", fmt.Sprint(!e.slow), fmt.Sprint(e.slow),
		fmt.Sprintf("frame %d of port %d, account_seq %d, cannot have gone %s", e.frame, e.port, e.seq, pathNames[e.slow]), a.describe())
	for i := range a.states {
		s := &a.states[i]
		s.Seq = e.seq
		s.Draw(!e.slow && s.Balance > 0)
	}
}

// describe says what an account can be.
func (a *account) describe() string {
	s := fmt.Sprintf("account %d", a.id)
	for i := range min(len(a.states), 4) {
		x := &a.states[i]
		s += fmt.Sprintf("; balance %d, latch %v, slow %v, seq %d", x.Balance, x.Latch, x.Slow, x.Seq)
		if n := len(a.writes) + a.gone - x.applied; n > 0 {
			s += fmt.Sprintf(", %d writes to come", n)
		}
	}
	return s
}
