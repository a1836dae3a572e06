package workload

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/stack/apps"
)

// Run is the applications of a workload: those of package apps, whose methods these are, or others.
type Run interface {
	Prepare() error
	Prepared() bool
	Begin() error
	Stop()
	Retry()
	Err() error
	Progress() uint64
	InFlight() int
	Messages() (n int, bytes uint64)
	Posted() int
	Done() bool
	Waiting() string
	Findings() []apps.Finding
	Finish() error
	Result() (*apps.Result, error)
	Close(apps.Await) error
	Flows() []apps.Flow
	Observe(apps.Observer)
}

var _ Run = (*apps.Run)(nil)

// Group runs workloads side by side, each in its phase.
type Group struct {
	Runs []Run // by workload

	list    List
	begun   []bool
	phases  []phase // changes to come, in order
	entered int     // changes so far
}

// phase is the beginning or the end of a workload.
type phase struct {
	at       simcore.Ps
	begin    bool
	workload int
}

// OpenError reports a workload whose applications could not be created.
type OpenError struct {
	Workload int // place in the list
	Err      error
	named    error // Err with the name of the workload
}

func (e *OpenError) Error() string { return e.named.Error() }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Err }

// NewGroup creates the applications of all workloads, each by open.
func NewGroup(list List, open func(i int) (Run, error)) (*Group, error) {
	g := &Group{list: list, begun: make([]bool, len(list))}
	for i := range list {
		r, err := open(i)
		if err != nil {
			return nil, &OpenError{Workload: i, Err: err, named: g.of(i, err)}
		}
		g.Runs = append(g.Runs, r)
	}
	return g, nil
}

// of names the workload of an error, if there are several.
func (g *Group) of(i int, err error) error {
	if label := g.list.Label(i); err != nil && label != "" {
		return fmt.Errorf("workload %s: %w", label, err)
	}
	return err
}

// each calls f for every run and joins its errors.
func (g *Group) each(f func(Run) error) error {
	var errs []error
	for i, r := range g.Runs {
		errs = append(errs, g.of(i, f(r)))
	}
	return errors.Join(errs...)
}

// Prepare posts the first receive requests (apps.Run.Prepare).
func (g *Group) Prepare() error { return g.each(Run.Prepare) }

// Prepared reports whether all receive requests needed before Begin are in place (apps.Run.Prepared).
func (g *Group) Prepared() bool {
	return !slices.ContainsFunc(g.Runs, func(r Run) bool { return !r.Prepared() })
}

// Begin starts the traffic, and all workloads that do not begin later.
func (g *Group) Begin(now simcore.Ps) error {
	for i, s := range g.list {
		g.phases = append(g.phases, phase{now + simcore.Ps(s.Begin), true, i})
		if s.End != nil { // before the events of time End
			g.phases = append(g.phases, phase{now + simcore.Ps(*s.End) - 1, false, i})
		}
	}
	slices.SortStableFunc(g.phases, func(a, b phase) int { return cmp.Compare(a.at, b.at) })
	for at, ok := g.NextPhase(); ok && at == now; at, ok = g.NextPhase() {
		if err := g.EnterPhase(); err != nil {
			return err
		}
	}
	return nil
}

// NextPhase returns the time at which the next workload begins or ends, and false if none does.
func (g *Group) NextPhase() (at simcore.Ps, ok bool) {
	if len(g.phases) == 0 {
		return 0, false
	}
	return g.phases[0].at, true
}

// EnterPhase lets the next workload begin or end. The caller calls it at the time of NextPhase.
func (g *Group) EnterPhase() error {
	p := g.phases[0]
	g.phases = g.phases[1:]
	g.entered++
	r := g.Runs[p.workload]
	if p.begin {
		g.begun[p.workload] = true
		return g.of(p.workload, r.Begin())
	}
	r.Stop()
	return g.of(p.workload, r.Err())
}

// Entered counts the begins and ends of workloads so far.
func (g *Group) Entered() int { return g.entered }

// EndPhases drops the phases to come: the traffic is over.
func (g *Group) EndPhases() { g.phases = nil }

// Pausing reports whether all workloads that have begun are done, while others follow.
func (g *Group) Pausing() bool {
	waits := false
	for i, r := range g.Runs {
		if g.begun[i] && !r.Done() {
			return false
		}
		waits = waits || !g.begun[i]
	}
	return waits
}

// MoreBegin reports whether workloads are yet to begin.
func (g *Group) MoreBegin() bool { return slices.Contains(g.begun, false) }

// Retry posts again the requests that found no room in their queues (apps.Run.Retry).
func (g *Group) Retry() {
	for _, r := range g.Runs {
		r.Retry()
	}
}

// Err returns the error that stopped applications, or nil.
func (g *Group) Err() error {
	for i, r := range g.Runs {
		if err := r.Err(); err != nil {
			return g.of(i, err)
		}
	}
	return nil
}

// Progress returns a counter that grows with every completion taken.
func (g *Group) Progress() (n uint64) {
	for _, r := range g.Runs {
		n += r.Progress()
	}
	return n
}

// InFlight returns the number of requests posted to send queues that have not completed.
func (g *Group) InFlight() (n int) {
	for _, r := range g.Runs {
		n += r.InFlight()
	}
	return n
}

// Messages returns the number of messages, answers included, that arrived correctly.
func (g *Group) Messages() (n int) {
	for _, r := range g.Runs {
		k, _ := r.Messages()
		n += k
	}
	return n
}

// Posted returns the number of messages of each workload, answers included: all, or those posted before its end.
func (g *Group) Posted() (all []int) {
	for _, r := range g.Runs {
		all = append(all, r.Posted())
	}
	return all
}

// Done reports whether all workloads have begun, sent and received everything.
func (g *Group) Done() bool {
	return !slices.ContainsFunc(g.Runs, func(r Run) bool { return !r.Done() })
}

// Waiting describes what the first few unfinished flows of each workload wait for.
func (g *Group) Waiting() string {
	var list []string
	for i, r := range g.Runs {
		switch label := g.list.Label(i); {
		case r.Done():
		case label == "":
			list = append(list, r.Waiting())
		case !g.begun[i]:
			list = append(list, fmt.Sprintf("workload %s has not begun", label))
		default:
			list = append(list, fmt.Sprintf("workload %s: %s", label, r.Waiting()))
		}
	}
	return strings.Join(list, "; ")
}

// Findings returns the first fault that each end has found so far.
func (g *Group) Findings() (all []apps.Finding) {
	for i, r := range g.Runs {
		for _, f := range r.Findings() {
			f.Workload = g.list.Label(i)
			all = append(all, f)
		}
	}
	return all
}

// Finish checks the final memory, once nothing is in flight any more (apps.Run.Finish).
func (g *Group) Finish() error { return g.each(Run.Finish) }

// Result returns the outcome of all workloads. If clients of a workload stop at a given time (field end), the number of
// its messages depends on timing.
func (g *Group) Result() (*apps.Result, error) {
	var parts []apps.Part
	for i, r := range g.Runs {
		res, err := r.Result()
		if err != nil {
			return nil, g.of(i, err)
		}
		parts = append(parts, apps.Part{Name: g.list.Label(i), Timed: g.list[i].End != nil, Result: res})
	}
	return apps.Join(parts), nil
}

// Close destroys all objects of the workloads (apps.Run.Close).
func (g *Group) Close(await apps.Await) error {
	return g.each(func(r Run) error { return r.Close(await) })
}
