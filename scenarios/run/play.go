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
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/stats"
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
		again.Workload.Seed = o.Seed
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
		p.add(result.Finding{Domain: result.Application, Field: "progress", Expected: stuck.What, Got: stuck.Why,
			Text: stuck.Error()})
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
		return p, fmt.Errorf("%s: %w", c.Name, explain(err))
	}
	return p, nil
}

// explain turns errors about what a stack does not support into a UsageError; it returns other errors unchanged.
func explain(err error) error {
	if errors.As(err, new(*apps.MemoryError)) {
		return &UsageError{err}
	}
	for _, n := range []verbs.Errno{verbs.EINVAL, verbs.EOPNOTSUPP, verbs.ENOMEM} {
		if errors.Is(err, n) {
			return &UsageError{err}
		}
	}
	return err
}

// play runs the phases of a case.
func (w *world) play(p *Played) error {
	run, err := apps.New(w.c.Workload, w.processes(), w.await)
	if err != nil {
		return err
	}
	if err := run.Prepare(); err != nil {
		return stackError(err)
	}
	if err := w.prepare(run); err != nil {
		return err
	}
	if err := w.injectReadFaults(); err != nil {
		return err
	}
	w.notifyTraffic(false)
	w.measure(run)
	from := w.engine.Now()
	if err := run.Begin(); err != nil {
		return stackError(err)
	}
	stuck := w.traffic(run)
	p.Traffic = w.engine.Now() - from
	w.endSeries()
	if stuck == nil {
		stuck = w.settle("everything to settle after the traffic")
	}
	w.notifyTraffic(true)
	if stuck != nil && !errors.As(stuck, new(*StuckError)) {
		w.addFaults(p, run.Findings())
		return stuck
	}
	if err := run.Finish(); err != nil {
		return stackError(err)
	}
	if p.Result, err = run.Result(); err != nil {
		return err
	}
	p.Digest = p.Result.Digest(w.c.Expect.Compare)
	w.applications(p)
	if err := w.figures(p); err != nil {
		return err
	}
	if stuck != nil {
		return stuck
	}
	if err := w.destroy(run); err != nil {
		return err
	}
	return w.rest()
}

// prepare waits until all receive requests are posted. If queues are full, that takes several rounds.
func (w *world) prepare(run *apps.Run) error {
	const what = "receive requests to be posted"
	for from := w.engine.Now(); ; {
		if err := w.settle(what); err != nil {
			return err
		}
		run.Retry()
		if run.Prepared() {
			return nil
		}
		if err := errors.Join(run.Err(), w.run(trafficStep)); err != nil {
			return err
		}
		if w.engine.Now()-from > w.limits.setUp {
			return &StuckError{what, fmt.Sprintf("for %v (limits.set_up)", nanoseconds(w.limits.setUp)),
				w.engine.Now()}
		}
	}
}

// notifyTraffic calls Options.Traffic when traffic starts and when it has settled.
func (w *world) notifyTraffic(settled bool) {
	if w.o.Traffic != nil {
		w.o.Traffic(w.rack, settled)
	}
}

// destroy destroys the applications' queue pairs and memory regions, unless there was an error: then some requests may
// never end.
func (w *world) destroy(run *apps.Run) error {
	if len(w.c.Expect.Errors) > 0 || w.failed != nil || !run.Done() {
		return nil
	}
	return stackError(run.Close(w.await))
}

// traffic runs until the applications have ended, or until nothing more can arrive.
func (w *world) traffic(run *apps.Run) error {
	l, total := &w.limits, w.c.Workload.Messages()*w.c.Workload.MessagesPerRequest()
	mark, from, since, active := run.Progress(), w.engine.Now(), w.engine.Now(), w.engine.Now()
	at, moved, sampled := uint64(0), since, false
	for !run.Done() {
		err := w.run(trafficStep)
		if w.failed == nil { // a failed stack makes its applications fail, which says nothing new
			err = errors.Join(err, stackError(run.Err()))
		}
		if err != nil {
			return err
		}
		w.sample()
		run.Retry()
		w.report(run, total)
		if w.o.Step != nil {
			w.o.Step(run.InFlight())
		}
		now := w.engine.Now()
		stuck := func(why string) error {
			return &StuckError{"the applications to end", why + ": " + run.Waiting(), now}
		}
		if now-from > l.traffic {
			return stuck(fmt.Sprintf("not there after %v (limits.traffic)", nanoseconds(l.traffic)))
		}
		if n := run.Progress(); n != mark {
			w.waited = max(w.waited, now-since)
			mark, since, active = n, now, now
			moved, sampled = now, false
			w.progress(run, total)
			continue
		}
		if !w.settled() {
			active = now
		}
		if half := now-moved > l.quiet/2; half && !sampled {
			at, sampled = w.moved(), true
		} else if now-moved > l.quiet && w.moved() != at {
			moved, sampled = now, false
		}
		if w.engine.Pending() > 0 && now-active <= l.grace && now-moved <= l.quiet {
			continue
		}
		if w.mayEnd() {
			return nil
		}
		return stuck(fmt.Sprintf("nothing was completed for %v%s", nanoseconds(now-since), w.armed()))
	}
	w.progress(run, total)
	return nil
}

// moved sums the progress of all stacks: it changes when any connection advances.
func (w *world) moved() (n uint64) {
	for _, s := range w.stacks {
		n += s.Progress()
	}
	return n
}

// nanoseconds converts simulated time for error texts.
func nanoseconds(t simcore.Ps) time.Duration { return time.Duration(t / simcore.Nanosecond) }

// mayEnd reports whether the case may end although applications still wait: messages may be lost, requests may fail, or
// a stack has failed.
func (w *world) mayEnd() bool {
	return len(w.c.Expect.Errors) > 0 || w.c.Expect.Lost.AtMost > 0 || w.failed != nil
}

func (w *world) progress(run *apps.Run, total int) {
	if w.o.Progress != nil {
		n, _ := run.Messages()
		w.o.Progress(n, total)
	}
}

// applications adds to the findings the faults that applications found and the expectations that were not met.
func (w *world) applications(p *Played) {
	w.addFaults(p, p.Result.Findings)
	w.handlers(p)
	if want := w.c.Expect.Failure; want != "" && w.failed == nil {
		d := discrepancy{field: "expect.failure: error of a stack", expected: fmt.Sprintf("%q", want), got: "none"}
		p.add(result.Finding{Domain: result.Application, Field: d.field, Expected: d.expected, Got: d.got,
			Text: d.String()})
	}
	for _, d := range w.c.judge(p.Result, p.Traffic) {
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
