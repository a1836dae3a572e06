package manager

import (
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/ceio/credit"
	"nictwin/stack/ceio/ring"
)

// NIC carries out what the manager decides. Flows have the manager's numbers. No method may call the manager back.
type NIC interface {
	// AddCredit adds to a flow's account.
	AddCredit(flow, credits int)

	// TakeCredit takes from a flow's account, which stops at 0.
	TakeCredit(flow, credits int)

	// ReadAccount reads the account once all earlier calls have taken effect on every frame; Manager.AccountRead takes
	// the answer.
	ReadAccount(flow int)

	// Resume adds to a flow's account and directs its packets to the fast ring, in one step.
	Resume(flow, credits int)

	// Steer rewrites the flow's rule to its fast or its slow ring; with controller `arm` only.
	Steer(flow int, fast bool)

	// Room returns how many of n slow packets find adjacent landing buffers of a flow: 1 or more while one is free. It
	// is not called with Spec.Lend.
	Room(flow, n int) int

	// Copy copies n slow packets by one work entry: the packets numbered from first on, which are adjacent in the slow
	// ring, to adjacent host buffers, no more than Room returned. CopyEnded reports the end.
	Copy(flow int, first uint64, n int)
}

// Account holds the fields of an account as read at some instant [A1].
type Account struct {
	Drawn uint32 // credits drawn since it was set up
	Seq   uint32 // number of the next frame
	Slow  bool   // frames take the slow path until Resume
}

// State is the state of a flow.
type State uint8

// States of a flow.
const (
	Inactive State = iota
	Fast
	Slow
	Draining
	Resuming
)

var stateNames = [...]string{"inactive", "fast", "slow", "draining", "resuming"}

func (s State) String() string { return stateNames[s] }

// Stats counts what a manager did.
type Stats struct {
	Fast, Slow  uint64 // packets, by the ring that they came in
	Exhausted   uint64 // times that a flow ran out of credits
	Drains      uint64 // times that draining began
	Copies      uint64 // work entries for slow packets
	Resumes     uint64
	Late        uint64 // packets that still came slow after a resume
	Overshoot   uint64 // packets that came fast without a credit, with controller `arm`
	Marked      uint64 // packets handed over while the slow path was growing
	Withheld    uint64 // most credits of a flow that its account did not get, for lack of descriptors
	Activated   uint64
	Deactivated uint64
}

// Manager holds the flows of one server.
type Manager struct {
	spec   Spec
	nic    NIC
	ledger *credit.Ledger
	flows  []flow // the last one is the shared flow, if there is one
	change change
	stats  Stats
	err    error

	// Times of the spec.
	inactive, reactivateEvery, markEvery, waitLimit Ps

	tick     Ps  // next time at which to look for silent flows, or to reactivate one
	rotation Ps  // time of the next reactivation
	turn     int // flow that is reactivated first
}

// flow is the state of one flow.
type flow struct {
	id     int
	shared bool // has no account: all packets are slow
	open   bool
	state  State // any but Inactive, which the ledger knows

	ring       *ring.Ring
	merger     ring.Merger
	fast, slow fifo.Queue[uint32] // numbers of packets that arrived and wait for earlier ones of the other ring

	inNIC   int    // credits granted to the account, less those that fast packets are known to have taken
	early   int    // credits known to be taken by packets whose completions have not been seen
	drawn   uint32 // fast completions seen
	excess  int    // fast packets in host memory that hold no credit
	paused  bool   // the account is latched, or the rule rewritten: packets come slow until Resume
	resumed bool   // no fast packet has been appended since the latest Resume
	before  uint32 // fast completions seen before the latest Resume
	certain bool   // the latest Resume took effect before frame `from`
	from    uint32

	processed, messages int  // fast packets and messages processed since the latest release
	returned            bool // credits came back since the flow ran out of them

	order order
	gap   wait // for a packet that others have overtaken
	held  wait // for a landing buffer, while the application holds all of them

	runs     fifo.Queue[int] // packets of each copy under way
	landed   int             // slow packets that hold a host buffer
	lent     fifo.Queue[int] // unused buffers of each area that the application lent
	wanted   int             // packets that a receive call waits for
	arrivals uint64
	last     Ps     // time of the latest arrival
	quietAt  uint64 // value of `arrivals` when the flow became inactive

	hits  hits
	marks marks
}

// New returns a manager without open flows.
func New(s Spec, nic NIC) (*Manager, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("ceio: %w", err)
	}
	m := &Manager{spec: s, nic: nic, flows: make([]flow, s.connections()), inactive: Ps(s.Inactive),
		reactivateEvery: Ps(s.Reactivate), markEvery: Ps(s.MarkEvery), waitLimit: Ps(s.WaitLimit)}
	m.rotation, m.tick = m.reactivateEvery, min(m.inactive, m.reactivateEvery)
	m.ledger = credit.New(s.Credits, s.Flows, credit.Options{AsPrinted: s.AsPrinted})
	m.change.take = make([]int, s.Flows)
	for i := range m.flows {
		f := &m.flows[i]
		*f = flow{id: i, shared: i == s.Flows, state: Slow, paused: true, ring: ring.New(s.FastSlots + s.SlowSlots),
			order: begin(), marks: marks{caughtUp: true}, hits: hits{most: s.FastSlots}}
	}
	if !s.Reallocate {
		all := make([]int, s.Flows)
		for i := range all {
			all[i] = i
		}
		m.ledger.Activate(all...)
	}
	return m, nil
}

// Open makes a flow take part, from now on. Its account must exist, without credits and with latch, before.
func (m *Manager) Open(now Ps, id int) error {
	f, err := m.flow(id)
	if err != nil {
		return err
	}
	if f.open {
		return fmt.Errorf("ceio: flow %d is open already", id)
	}
	f.open = true
	m.watch(now, f)
	if !f.shared {
		m.request(f, true)
		m.settle(f)
	}
	return m.err
}

// Close lets the other flows have the credits of a flow. Its packets are slow from then on and can still be received.
func (m *Manager) Close(id int) error {
	f, err := m.flow(id)
	if err != nil {
		return err
	}
	if !f.open {
		return fmt.Errorf("ceio: flow %d is not open", id)
	}
	f.open = false
	m.request(f, false)
	return m.err
}

func (m *Manager) flow(id int) (*flow, error) {
	if id < 0 || id >= len(m.flows) {
		return nil, fmt.Errorf("ceio: flow %d: want 0 to %d", id, len(m.flows)-1)
	}
	return &m.flows[id], nil
}

// FlowError reports what went wrong with a flow.
type FlowError struct {
	Flow int
	text string // behind the name of the flow
}

// FlowErrorf returns an error about a flow. The format continues the flow's name.
func FlowErrorf(flow int, format string, a ...any) *FlowError {
	return &FlowError{flow, fmt.Sprintf(format, a...)}
}

func (e *FlowError) Error() string { return e.Of(fmt.Sprintf("flow %d", e.Flow)) }

// Of returns the error's text about a flow that has a name.
func (e *FlowError) Of(name string) string { return "ceio: " + name + e.text }

// fail ends the manager's work with a FlowError; the first one counts.
func (m *Manager) fail(id int, format string, a ...any) {
	if m.err == nil {
		m.err = FlowErrorf(id, format, a...)
	}
}

// Err returns the first thing that went wrong, such as packets of a NIC that breaks the rules of its accounts.
func (m *Manager) Err() error { return m.err }

// State returns the state of a flow.
func (m *Manager) State(id int) State {
	if f := &m.flows[id]; f.shared || m.ledger.Active(id) {
		return f.state
	}
	return Inactive
}

// Credits returns the ledger, which the caller must not change.
func (m *Manager) Credits() *credit.Ledger { return m.ledger }

// InHost returns the number of fast packets of a flow that have arrived and not returned their credits.
func (m *Manager) InHost(id int) int {
	f := &m.flows[id]
	if f.shared {
		return 0
	}
	return m.ledger.InUse(id) - f.early + f.excess
}

// Started reports whether a flow is open.
func (m *Manager) Started(id int) bool { return m.flows[id].open }

// Idle reports whether a flow has no packet that was not handed over, and no copy under way.
func (m *Manager) Idle(id int) bool {
	f := &m.flows[id]
	return f.ring.Pending() == 0 && f.fast.Len() == 0 && f.slow.Len() == 0 && f.runs.Len() == 0
}

// NeedsDescriptors returns how many descriptors of a flow's fast ring must be announced to the NIC, as its software
// counts them: one for each credit in the account, and for each draw whose completion has not been seen. With
// controller `arm`, one for each credit that is not in use, and for those packets that may come before the rule names
// the slow ring.
func (m *Manager) NeedsDescriptors(id int) int {
	f := &m.flows[id]
	switch {
	case m.spec.Controller == ControlNIC:
		return f.inNIC + f.early
	case f.paused:
		return 0
	}
	return m.armNeeds(f)
}

// InAccount returns the credits in a flow's account, if it has drawn only what was reported.
func (m *Manager) InAccount(id int) int { return m.flows[id].inNIC }

// Stats returns what the manager did so far.
func (m *Manager) Stats() Stats {
	s := m.stats
	for i := range m.flows {
		s.Late += m.flows[i].merger.Late()
	}
	return s
}
