package manager

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/stack/cc"
)

// Ps is a time in picoseconds.
type Ps = cc.Ps

// Never is the time of a timer that does not run.
const Never = cc.Never

// Controller names who moves a flow to the slow path when its credits are used up.
type Controller string

// Controllers.
const (
	ControlNIC Controller = "nic" // the NIC's credit accounts
	ControlArm Controller = "arm" // software on a core of the card, which polls and rewrites the steering rule
)

// Accounts selects the treatment of flows beyond the accounts in use.
type Accounts string

// Values of Accounts.
const (
	AccountsShared    Accounts = "shared"    // these flows share one slow ring
	AccountsExclusive Accounts = "exclusive" // these flows are refused
)

// MaxFlows is the number of a NIC's accounts [A1]; maxCredits is the most that one holds.
const (
	MaxFlows   = 64
	maxCredits = 1<<24 - 1
)

// Spec holds the parameters of a manager.
type Spec struct {
	Credits    int        `yaml:"credits"` // of all flows: buffers that fit into the cache; 0: only slow paths
	Flows      int        `yaml:"flows"`   // flows that have an account
	Accounts   Accounts   `yaml:"accounts"`
	Controller Controller `yaml:"controller"`

	// Batch is the number of messages after which the credits of processed packets return. A batch of the flow's share
	// or more counts as one credit less than the share, or the flow would run out of credits by itself.
	Batch int `yaml:"batch"`

	// Inactive is the time after which a flow without packets gives up its credits, Reactivate the period in which the
	// next inactive flow with packets becomes active again.
	Inactive   quantity.Time `yaml:"inactive"`
	Reactivate quantity.Time `yaml:"reactivate"`

	Reallocate bool `yaml:"reallocate"` // false: every flow keeps its equal part, active or not
	AsPrinted  bool `yaml:"as_printed"` // follow Algorithm 1 as printed, which loses credits
	Async      bool `yaml:"async"`      // false: only packets that a receive call waits for are copied

	FastSlots int  `yaml:"-"`          // descriptors of a flow's fast ring
	SlowSlots int  `yaml:"slow_slots"` // descriptors of a slow ring
	Landing   int  `yaml:"landing"`    // host buffers of a flow for slow packets
	Lend      bool `yaml:"-"`          // the application lends the landing buffers (post_recv)
	Copies    int  `yaml:"copies"`     // maximum number of copies of a flow in progress

	// MarkEvery is the shortest period in which production and consumption of the slow path are compared.
	MarkEvery quantity.Time `yaml:"mark_period"`

	// WaitLimit bounds what could be for ever: the wait for a packet whose successor has arrived, and for a landing
	// buffer while the application holds all of them. A longer one is an error.
	WaitLimit quantity.Time `yaml:"wait_limit"`
}

// DefaultSpec returns the paper's parameters where it has them: 3,000 credits (6 MB of cache, buffers of 2 KB), an
// inactivity of 1 s. The batch, the reactivation period, the number of copies and the limit of waits are ours.
func DefaultSpec() Spec {
	const second, microsecond = 1e12, quantity.Time(cc.Microsecond)
	return Spec{
		Credits: 3000, Flows: 8, Accounts: AccountsShared, Controller: ControlNIC, Batch: 32, Inactive: second,
		Reactivate: second, Reallocate: true, Async: true, FastSlots: 4096, SlowSlots: 4096, Landing: 1024, Copies: 4,
		MarkEvery: 10 * microsecond, WaitLimit: 10_000 * microsecond,
	}
}

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, from, to int64) {
		errs = append(errs, field.Within(path, v, from, to))
	}
	timer := func(path field.Path, v quantity.Time) {
		errs = append(errs, field.Within(path, v, 1, quantity.Time(Never/4)))
	}
	const ring = 1 << 15
	within("credits", int64(s.Credits), 0, maxCredits)
	within("flows", int64(s.Flows), 1, MaxFlows)
	within("batch", int64(s.Batch), 1, maxCredits)
	timer("inactive", s.Inactive)
	timer("reactivate", s.Reactivate)
	timer("mark_period", s.MarkEvery)
	timer("wait_limit", s.WaitLimit)
	within("fast_slots", int64(s.FastSlots), 1, ring)
	within("slow_slots", int64(s.SlowSlots), 1, ring)
	within("landing", int64(s.Landing), 1, ring)
	within("copies", int64(s.Copies), 1, int64(ring/EntriesPerCopy/max(s.connections(), 1)))
	if s.Controller != ControlNIC && s.Controller != ControlArm {
		errs = append(errs, field.Errorf("controller", "%q: want nic or arm", s.Controller))
	}
	if s.Accounts != AccountsShared && s.Accounts != AccountsExclusive {
		errs = append(errs, field.Errorf("accounts", "%q: want shared or exclusive", s.Accounts))
	}
	return errors.Join(errs...)
}

// EntriesPerCopy is the most work entries of a copy: headers and payload of split frames are apart.
const EntriesPerCopy = 2

// connections returns the number of receive paths: the flows, and the shared one.
func (s *Spec) connections() int {
	if s.Accounts == AccountsShared {
		return s.Flows + 1
	}
	return s.Flows
}

// CopyEntries returns the work entries of all copies that may be under way at a time.
func (s *Spec) CopyEntries() int { return s.connections() * s.Copies * EntriesPerCopy }

// Place returns the flow of the manager that serves a server's n-th connection, counted from 0: its own, or the shared
// one, whose packets all take one slow ring.
func (s *Spec) Place(n int) (flow int, err error) {
	switch {
	case n >= 0 && n < s.Flows:
		return n, nil
	case n >= s.Flows && s.Accounts == AccountsShared:
		return s.Flows, nil
	}
	return 0, fmt.Errorf("ceio: connection %d: want 0 to %d with accounts exclusive, or accounts shared", n, s.Flows-1)
}
