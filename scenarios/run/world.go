package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nictwin/models/board"
	"nictwin/models/memory/dram"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/run/background"
	"nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/load"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/workload"
)

// world is the board of a case, with its devices, stacks and referees.
type world struct {
	ctx    context.Context
	c      *Case
	o      *Options
	engine *simcore.Engine
	spec   board.RackSpec // the board, with the devices that this run uses
	pools  board.Pools
	rack   *board.Rack
	stacks []Running      // by server
	judges []*judge.Judge // by server, of its first card; nil for an rnic, which no referee can check
	log    *judge.Log     // nil: the case writes no artifacts
	tap    *wiretap.Tap   // recording of the cables; nil: the case writes no artifacts
	limits limits

	workloads workload.List
	apps      *workload.Group // applications of all workloads; nil: not set up
	net       *hostnet.Net    // flows of workloads over UDP; nil: the stacks have verbs

	measured   *measured       // statistics; nil: none are wanted
	watching   *probe.Watch    // links, for StatsFull; nil: nobody watches
	observed   *probe.Cables   // see cables; nil: nobody has asked for it
	loads      *load.Set       // background loads of memories
	background *background.Set // captured frames sent beside the traffic

	waited simcore.Ps // longest wait that succeeded: between two completions, or in method settle
	over   bool
	failed error // error with which a stack failed, if the case expects one
}

// StuckError reports a wait that reached its limit.
type StuckError struct {
	What string // what the run waited for
	Why  string
	At   simcore.Ps
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("waited for %s: %s (at %v of simulated time)", e.What, e.Why, nanoseconds(e.At))
}

// StackError reports an error that ended a stack or blocked its applications.
type StackError struct{ Err error }

func (e *StackError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StackError) Unwrap() error { return e.Err }

// stackError wraps an error of a stack; nil stays nil.
func stackError(err error) error {
	if err == nil {
		return nil
	}
	return &StackError{err}
}

// newWorld builds the board of a case and opens its stacks.
func newWorld(ctx context.Context, c *Case, o *Options) (*world, error) {
	w := &world{ctx: ctx, c: c, o: o, engine: simcore.NewEngine(), limits: c.limits().little(o.Patience),
		workloads: c.AllWorkloads()}
	w.spec = o.override(c.rack())
	w.stacks = make([]Running, len(w.spec.Servers))
	var err error
	w.rack, err = board.NewRack(w.engine, &w.pools, w.spec, device.Slots(o.device(ctx), c.finder(o)))
	if err != nil {
		return nil, err
	}
	if err := w.begin(&w.spec); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// begin attaches the observers and opens the stacks.
func (w *world) begin(rack *board.RackSpec) error {
	if w.o.Stats == StatsFull {
		w.watching = probe.NewWatch(w.rack, w.cables())
	}
	if err := errors.Join(w.openBackground(), w.watch(rack)); err != nil {
		return err
	}
	for _, c := range w.rack.Cards() {
		if err := c.Begin(func() bool { return w.over }); err != nil {
			return err
		}
	}
	w.openNet()
	for i := range w.stacks {
		s, err := w.openStack(i)
		if err != nil {
			return fmt.Errorf("server %s: %w", w.rack.Servers[i].Name, w.c.tooSmall(i, err))
		}
		w.stacks[i] = s
	}
	return nil
}

// watch attaches the referees and the writers of artifacts.
func (w *world) watch(rack *board.RackSpec) (err error) {
	for i, v := range w.rack.Servers {
		if w.o.Observe != nil {
			w.o.Observe(i, v.Cards[0].NIC)
		}
	}
	var names []string
	for i := range rack.Servers {
		if contract(&rack.Servers[i].Cards[0]) {
			names = append(names, rack.Servers[i].Name)
		}
	}
	if w.o.Dir != nil && len(names) > 0 {
		if w.log, err = judge.NewLog(w.o.Dir, w.o.ArtifactBytes, names...); err != nil {
			return err
		}
	}
	if w.o.Dir != nil {
		if w.tap, err = wiretap.Attach(w.engine, w.rack, w.o.Dir, w.o.ArtifactBytes); err != nil {
			return err
		}
	}
	for i, v := range w.rack.Servers {
		spec := &rack.Servers[i].Cards[0]
		if !contract(spec) || w.o.Unjudged {
			w.judges = append(w.judges, nil)
			continue
		}
		j, err := judge.Attach(v.Cards[0].NIC, judge.Options{Name: v.Name, Build: buildOf(spec, v.Cards[0].NIC),
			Log: w.log})
		if err != nil {
			return err
		}
		w.judges = append(w.judges, j)
	}
	return nil
}

// contract reports whether a card's NIC follows docs/nic.md. An rnic does not.
func contract(c *board.CardSpec) bool { return c.Device.Kind != board.DeviceRNIC }

// buildOf returns the build of a card's NIC.
func buildOf(c *board.CardSpec, nic board.NIC) nicspec.Build {
	b := nicspec.DefaultBuild()
	if c.Build != nil {
		b = *c.Build
	}
	b.Ports, b.EthBits = max(c.Ports, 1), nic.EthBits()
	return b
}

// Steps of simulated time between two checks of a condition.
const (
	setUpStep   = simcore.Microsecond
	trafficStep = simcore.Microsecond
)

// err returns errors that end the run.
func (w *world) err() error {
	errs := []error{w.ctx.Err(), w.rack.Err()}
	for _, s := range w.stacks {
		if s != nil {
			errs = append(errs, w.unexpected(s.Err()))
		}
	}
	for _, c := range w.rack.Cards() {
		errs = append(errs, c.Overdue())
	}
	return errors.Join(errs...)
}

// unexpected returns an error of a stack. If the case expects this error, it records it and returns nil.
func (w *world) unexpected(err error) error {
	if want := w.c.Expect.Failure; err == nil || want == nil || !strings.Contains(err.Error(), *want) {
		return stackError(err)
	}
	w.failed = err
	return nil
}

// run advances time by a step, or by several steps if the next event is farther away. It does not skip to the beginning
// of a background load, for which no software waits.
func (w *world) run(step simcore.Ps) error {
	to, next := w.engine.Now()+step, w.engine.Next()
	if w.o.Step == nil && next != nil && next.At > to && !beginsLoad(next) {
		to += (next.At - to + step - 1) / step * step
	}
	if at, ok := w.nextPhase(); ok && w.o.Step == nil && (next == nil || at < to) { // not beyond the next phase
		to = max(at, w.engine.Now()+step)
	}
	if err := w.advance(to); err != nil {
		return err
	}
	return w.err()
}

// beginsLoad reports whether the next event belongs to a background load of DRAM.
func beginsLoad(e *simcore.Event) bool {
	_, load := e.H.(*dram.Hog)
	return load
}

// armed lists the armed timers of connections, in a form that ends an error text.
func (w *world) armed() (text string) {
	for i, s := range w.stacks {
		if s == nil {
			continue
		}
		if t := s.Timer(); t != "" {
			text += fmt.Sprintf("; %s of server %s is armed", t, w.rack.Servers[i].Name)
		}
	}
	return text
}

// settled reports whether nothing is in flight in the stacks and on their cards.
func (w *world) settled() bool {
	if w.engine.Pending() == 0 {
		return true
	}
	settled := true
	for _, s := range w.stacks {
		// Call Settled on every stack: it may compare with its previous call.
		settled = (s.Settled() || s.Err() != nil) && settled
	}
	return settled
}

// await runs until done returns true, or the limit of the set-up is reached (apps.Await).
func (w *world) await(what string, done func() bool) error {
	for from := w.engine.Now(); !done(); {
		stuck := func(why string) error { return &StuckError{what, why, w.engine.Now()} }
		if w.engine.Pending() == 0 {
			return stuck("nothing happens any more")
		}
		if w.engine.Now()-from > w.limits.setUp {
			return stuck(fmt.Sprintf("for %v (limits.set_up)", nanoseconds(w.limits.setUp)))
		}
		if err := w.run(setUpStep); err != nil {
			return err
		}
	}
	return nil
}

// settle runs until nothing has been in flight for the time limits.grace.
func (w *world) settle(what string) error {
	from, since := w.engine.Now(), w.engine.Now()
	for w.engine.Pending() > 0 && w.engine.Now()-since < w.limits.grace {
		if w.engine.Now()-from > w.limits.settle || w.skipsLimit(from) && !w.settled() {
			return &StuckError{what, fmt.Sprintf("for %v (limits.settle)%s", nanoseconds(w.limits.settle),
				w.armed()), w.engine.Now()}
		}
		if err := w.run(w.settleStep(from)); err != nil {
			return err
		}
		if !w.settled() {
			since = w.engine.Now()
		}
	}
	w.waited = max(w.waited, w.engine.Now()-from)
	return nil
}

// settleStep returns the length of a step of a wait that began at `from`: it ends just behind limits.settle at the
// latest.
func (w *world) settleStep(from simcore.Ps) simcore.Ps {
	return max(min(trafficStep, from+w.limits.settle+1-w.engine.Now()), 1)
}

// skipsLimit reports whether nothing happens any more within limits.settle of a wait that began at `from`: the next
// step would skip the time behind it, after which what was in flight may have settled too late.
func (w *world) skipsLimit(from simcore.Ps) bool {
	next := w.engine.Next()
	return next != nil && next.At-from > w.limits.settle
}

// end waits until the devices are idle.
func (w *world) end() error {
	w.over = true
	from := w.engine.Now()
	for !w.resting() {
		if w.failed != nil && w.engine.Now()-from >= w.limits.grace {
			return nil // cores of the failed stack never stop polling; the NICs are idle by now
		}
		if w.engine.Now()-from > w.limits.settle || w.skipsLimit(from) {
			return &StuckError{"the board to come to rest", fmt.Sprintf("for %v (limits.settle): the next event is %s",
				nanoseconds(w.limits.settle), w.engine.Next()), w.engine.Now()}
		}
		if err := w.run(w.settleStep(from)); err != nil {
			return err
		}
	}
	w.waited = max(w.waited, w.engine.Now()-from)
	return nil
}

// resting reports whether no event is pending, timers of idle connections excepted.
func (w *world) resting() bool {
	return w.engine.Pending() == 0 || w.engine.Pending() == w.engine.Armed() && w.settled()
}

// close closes the devices and the artifacts.
func (w *world) close() error {
	errs := []error{w.rack.Close(), w.background.Close()}
	if w.log != nil {
		errs = append(errs, w.log.Close())
	}
	if w.tap != nil {
		errs = append(errs, w.tap.Close())
	}
	return errors.Join(errs...)
}
