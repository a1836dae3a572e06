package run

import (
	"errors"
	"fmt"
	"time"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/workload"
)

// play runs the phases of a case.
func (w *world) play(p *Played) error {
	if err := w.open(); err != nil {
		return err
	}
	if err := errors.Join(w.openLoads(), w.injectReadFaults()); err != nil {
		return err
	}
	w.notifyTraffic(false)
	w.measure()
	from := w.engine.Now()
	if err := errors.Join(w.besides(), stackError(w.apps.Begin(from))); err != nil {
		return err
	}
	stuck := errors.Join(w.traffic(), w.endBesides())
	w.apps.EndPhases()
	p.Traffic = w.engine.Now() - from
	w.endSeries()
	if stuck == nil {
		stuck = w.settle("everything to settle after the traffic")
	}
	w.notifyTraffic(true)
	if stuck != nil && !errors.As(stuck, new(*StuckError)) {
		w.addFaults(p, w.apps.Findings())
		return stuck
	}
	return w.judgeApplications(p, stuck)
}

// open creates the applications of all workloads and posts their first receive requests.
func (w *world) open() (err error) {
	if w.apps, err = workload.NewGroup(w.workloads, w.opener()); err != nil {
		return err
	}
	if err := w.apps.Prepare(); err != nil {
		return stackError(err)
	}
	return w.prepare()
}

// judgeApplications checks what the applications found, and ends the case. stuck is the wait that reached its limit;
// nil: none did.
func (w *world) judgeApplications(p *Played, stuck error) (err error) {
	if err := w.apps.Finish(); err != nil {
		return stackError(err)
	}
	if p.Result, err = w.apps.Result(); err != nil {
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
	if err := w.destroy(); err != nil {
		return err
	}
	if err := w.rest(); err != nil {
		return err
	}
	if p.Stats != nil && w.net != nil {
		p.Stats.Drops = w.net.Drops()
	}
	return nil
}

// prepare waits until all receive requests are posted. If queues are full, that takes several rounds.
func (w *world) prepare() error {
	const what = "receive requests to be posted"
	for from := w.engine.Now(); ; {
		if err := w.settle(what); err != nil {
			return err
		}
		w.apps.Retry()
		if w.apps.Prepared() {
			return nil
		}
		if err := errors.Join(w.apps.Err(), w.run(trafficStep)); err != nil {
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
func (w *world) destroy() error {
	if len(w.c.Expect.Errors) > 0 || w.failed != nil || !w.apps.Done() {
		return nil
	}
	return stackError(w.apps.Close(w.await))
}

// traffic runs until the applications have ended, or until nothing more can arrive.
func (w *world) traffic() error {
	from := w.engine.Now()
	v := &vigil{world: w, mark: w.apps.Progress()}
	for v.restart(); !w.apps.Done(); {
		if err := w.step(); err != nil {
			return err
		}
		now := w.engine.Now()
		if now-from > w.limits.traffic {
			return w.stuck(fmt.Sprintf("not there after %v (limits.traffic)", nanoseconds(w.limits.traffic)))
		}
		if n := w.apps.Progress(); n != v.mark {
			w.waited = max(w.waited, now-v.since)
			v.mark = n
			v.restart()
			w.progress()
			continue
		}
		switch mayEnd := w.mayEnd(); {
		case w.apps.Pausing() || w.apps.Entered() != v.entered:
			v.restart()
		case v.hopes():
		case mayEnd && w.apps.MoreBegin():
			v.restart()
		case mayEnd:
			return nil
		default:
			limit := ""
			if now-v.advanced > w.limits.quiet {
				limit = " (limits.quiet)"
			}
			return w.stuck(fmt.Sprintf("nothing was completed for %v%s%s", nanoseconds(now-v.since), limit, w.armed()))
		}
	}
	w.progress()
	return nil
}

// step runs a step of the traffic.
func (w *world) step() error {
	err := w.run(trafficStep)
	if w.failed == nil { // a failed stack makes its applications fail, which says nothing new
		err = errors.Join(err, stackError(w.apps.Err()))
	}
	if err != nil {
		return err
	}
	w.sample()
	w.apps.Retry()
	w.report(w.workloads.Messages())
	if w.o.Step != nil {
		w.o.Step(w.apps.InFlight())
	}
	return nil
}

// stuck returns the error of applications that wait in vain.
func (w *world) stuck(why string) error {
	return &StuckError{"the applications to end", why + ": " + w.apps.Waiting(), w.engine.Now()}
}

// vigil tells whether anything may still arrive while no request ends.
type vigil struct {
	*world
	entered  int        // phases that had begun or ended
	mark     uint64     // progress of the applications
	since    simcore.Ps // no request has ended since then
	active   simcore.Ps // time at which something was in flight
	advanced simcore.Ps // connections are watched for an advance from then on
	at       uint64     // with `sampled`: progress of the stacks at half of limits.quiet after `advanced`
	sampled  bool
}

// restart begins a new wait.
func (v *vigil) restart() {
	v.entered = v.apps.Entered()
	now := v.engine.Now()
	v.since, v.active, v.advanced, v.sampled = now, now, now, false
}

// hopes reports whether something may still arrive: something is in flight, or a connection has advanced lately.
func (v *vigil) hopes() bool {
	now, l := v.engine.Now(), &v.limits
	if !v.settled() {
		v.active = now
	}
	if half := now-v.advanced > l.quiet/2; half && !v.sampled {
		v.at, v.sampled = v.moved(), true
	} else if now-v.advanced > l.quiet && v.moved() != v.at {
		v.advanced, v.sampled = now, false
	}
	return v.engine.Pending() > 0 && now-v.active <= l.grace && now-v.advanced <= l.quiet
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

func (w *world) progress() {
	if w.o.Progress != nil {
		w.o.Progress(w.apps.Messages(), w.workloads.Messages())
	}
}
