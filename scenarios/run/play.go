package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/scenarios/run/workload"
	"nictwin/stack/apps"
	"nictwin/stack/verbs"
)

// Played is the outcome of a case.
type Played struct {
	Case     *Case
	Result   *apps.Result // nil: the applications did not finish
	Digest   string       // digest of the results that must be equal on every NIC; empty if there are no results
	NICs     []result.NICPlayed
	Traffic  simcore.Ps // duration of the traffic
	Sim      simcore.Ps // simulated time of the whole case
	Wall     time.Duration
	Findings []result.Finding
	Message  int // number of the message that the first finding names; -1: none
	Cut      []judge.Cut
	Stats    *stats.Summary // nil: not wanted, or the traffic did not begin
	Series   *probe.Series  // of StatsFull

	Patience simcore.Ps // longest time that the case would have waited for progress
	Waited   simcore.Ps // longest wait that succeeded: for progress, or for everything to settle
}

// Pass reports whether the case has no findings.
func (p *Played) Pass() bool { return len(p.Findings) == 0 }

// UsageError reports a case that its stack or board cannot play.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Play plays a case. Findings go to Played; the error is the reason for which the case could not finish. Canceling the
// context ends it.
func (c *Case) Play(ctx context.Context, o Options) (p *Played, err error) {
	if o.Seed != 0 {
		again := *c
		again.Spec = *specfile.Clone(&c.Spec)
		for _, l := range again.AllWorkloads() {
			l.Seed = o.Seed
		}
		c = &again
	}
	begin := time.Now()
	w, err := newWorld(ctx, c, &o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p = &Played{Case: c, Message: -1, Patience: max(w.limits.quiet, w.limits.settle)}
	err = w.play(p)
	var stuck *StuckError
	if errors.As(err, &stuck) {
		p.addStop(stuck)
	}
	w.collectVerdicts(p, err)
	if stuck != nil {
		w.blameStop(p)
	}
	p.Waited = w.waited
	p.Sim, p.Wall = w.engine.Now(), time.Since(begin)
	closing := w.close()
	if w.log != nil {
		p.Cut = w.log.Cuts()
	}
	var broken *StackError
	if stuck != nil {
		err = nil
	} else if errors.As(err, &broken) && !errors.As(err, new(*boundary.ContractError)) {
		p.add(result.Finding{Domain: result.Application, Field: "stack", Text: broken.Error()})
		err = nil
	} else if errors.As(err, new(*boundary.ContractError)) {
		p.add(result.OfError(err))
	}
	if err = errors.Join(err, closing); err != nil {
		return p, fmt.Errorf("%s: %w", c.Name, c.explain(err))
	}
	return p, nil
}

// explain turns errors about what a stack does not support into a UsageError, with the line of the workload that wants
// it; it returns other errors unchanged.
func (c *Case) explain(err error) error {
	unsupported := errors.As(err, new(*apps.MemoryError))
	for _, n := range []verbs.Errno{verbs.EINVAL, verbs.EOPNOTSUPP, verbs.ENOMEM} {
		unsupported = unsupported || errors.Is(err, n)
	}
	if !unsupported {
		return err
	}
	var open *workload.OpenError
	if !errors.As(err, &open) {
		return &UsageError{err}
	}
	var errs []error
	for _, one := range field.Each(open.Err) {
		errs = append(errs, field.Errorf(c.workloadPath(open.Workload), ": %w", one))
	}
	return &UsageError{c.Locate(errors.Join(errs...))}
}

// applications adds to the findings the faults that applications found and the expectations that were not met.
func (w *world) applications(p *Played) {
	w.addFaults(p, p.Result.Findings)
	w.handlers(p)
	if want := w.c.Expect.Failure; want != nil && w.failed == nil {
		d := discrepancy{field: "expect.failure: error of a stack", expected: fmt.Sprintf("%q", *want), got: "none"}
		p.add(result.Finding{Domain: result.Application, Field: d.field, Expected: d.expected, Got: d.got,
			Text: d.String()})
	}
	for _, d := range w.c.judge(p.Result, p.Traffic, w.apps.Posted()) {
		p.add(result.Finding{Domain: result.Application, Field: d.field, Expected: d.expected, Got: d.got,
			Text: d.String()})
	}
}

// addFaults adds the faults that the applications found. A stack that failed afterwards may have the same cause.
func (w *world) addFaults(p *Played, list []apps.Finding) {
	for i := range list {
		x := &list[i]
		f := result.Finding{Domain: result.Application, Field: x.What, Text: x.String()}
		if x.What == "byte" || x.What == "guard" {
			f.Expected, f.Got = fmt.Sprint(x.Expected), fmt.Sprint(x.Got)
		}
		if len(p.Findings) == 0 {
			p.Message = x.Message
		}
		p.add(f)
	}
}

// rest closes the stacks, ends background loads, reads counters, and waits until the board is idle.
func (w *world) rest() error {
	w.rack.StopLoads()
	var errs []error
	for _, s := range w.stacks {
		errs = append(errs, s.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !w.settled() { // cores polled records until the stacks were closed: wait until the card is idle
		if err := w.settle("the stacks to come to rest"); err != nil {
			return err
		}
	}
	for i, s := range w.stacks {
		c, ok := s.(counting)
		if !ok {
			continue
		}
		read := false
		if err := c.ReadCounters(func() { read = true }); err != nil {
			return err
		}
		if err := w.await("the counters of the NIC of server "+w.rack.Servers[i].Name,
			func() bool { return read }); err != nil {
			return err
		}
	}
	return w.end()
}

// collectVerdicts finishes the referees, and adds their findings and those of the devices.
func (w *world) collectVerdicts(p *Played, err error) {
	how := judge.Whole
	switch {
	case errors.As(err, new(*StuckError)):
		how = judge.Stopped
	case err != nil:
		how = judge.Broken
	}
	for i, v := range w.rack.Servers {
		nic := v.Cards[0].NIC
		n := result.NICPlayed{Name: v.Name, Device: w.deviceKind(i), Cycles: nic.Cycles()}
		if d, ok := nic.(device.Device); ok {
			n.Build = d.Build()
		}
		if j := w.judges[i]; j != nil {
			if rep := j.Finish(how); rep != nil {
				n.Digest, n.Checked, n.Mismatches = rep.Digest, rep.Checked, rep.Mismatches
				n.Latency = j.Latencies()
				for _, m := range rep.List {
					p.add(result.OfMismatch(m))
				}
				if len(rep.List) == 0 && !rep.Passed() && how == judge.Whole {
					p.add(result.Finding{NIC: v.Name, Domain: result.Run,
						Text: fmt.Sprintf("NIC %s cannot be judged: %s", v.Name, rep.Reason)})
				}
			}
			if how == judge.Whole && n.Checked == 0 {
				p.add(result.Finding{NIC: v.Name, Domain: result.Run, Field: "checked", Expected: "some crossings",
					Got: "0", Text: "NIC " + v.Name + ": the referee saw nothing"})
			}
		}
		if n := v.Cards[0].Memory.Stray(); n > 0 {
			p.add(result.Finding{
				NIC: v.Name, Rule: "C2", Domain: result.Device, Field: "writes that hit no memory", Expected: "0",
				Got:  fmt.Sprint(n),
				Text: fmt.Sprintf("%d writes of NIC %s hit no memory", n, v.Name),
			})
		}
		if how != judge.Broken {
			for _, e := range field.Each(nic.Check()) {
				p.add(result.OfError(e))
			}
		}
		p.NICs = append(p.NICs, n)
	}
}

// deviceKind returns the kind of device in a server's slot.
func (w *world) deviceKind(server int) string {
	d := &w.spec.Servers[server].Cards[0].Device
	if d.Kind == board.DeviceAny {
		return device.Model
	}
	return string(d.Kind)
}

// add adds a finding to the case.
func (p *Played) add(f result.Finding) {
	f.Scenario = p.Case.Name
	p.Findings = append(p.Findings, f)
}
