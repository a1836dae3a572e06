package pair

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/result"
)

// Result is the outcome of a run.
type Result struct {
	Servers   [2]*Report
	Processes int
	Quantum   simcore.Ps    // simulated time between two exchanges
	Quanta    uint64        // number of quanta with traffic
	Wall      time.Duration // wall time of the traffic, from the moment both servers were built
	Waited    time.Duration // part of Wall spent waiting for the other process
	Missing   time.Duration // part of Wall in which a process waited for a processor: the longer one of two processes
	Findings  []result.Finding
}

// Pass reports whether the run has no findings.
func (r *Result) Pass() bool { return len(r.Findings) == 0 }

// UsageError reports a mistake in the options.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Run plays the traffic and judges it. Canceling the context ends it.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, &UsageError{err}
	}
	runtime.LockOSThread() // ThreadDelay requires it
	defer runtime.UnlockOSThread()
	defer collectLess()()
	o.Beat.Count(0, 2*o.Count)
	r := &Result{Processes: o.Processes, Quantum: o.round() / ahead}
	var err error
	if o.Processes == 1 {
		err = runOne(ctx, &o, r)
	} else {
		err = runTwo(ctx, &o, r)
	}
	if err != nil {
		return nil, err
	}
	r.judge(&o)
	return r, nil
}

// judge compares the frames that left one server with those that arrived at the other.
func (r *Result) judge(o *Options) {
	for i, s := range r.Servers {
		r.Findings = append(r.Findings, s.Findings...)
		other := r.Servers[1-i]
		if s.Out != other.In {
			r.add(s.Name, "frames on the cables", fmt.Sprintf("%+v", s.Out), fmt.Sprintf("%+v", other.In),
				"what left "+s.Name+" and what came to "+other.Name+" differ")
		}
		if s.Sent != o.Count || other.Received != o.Count {
			r.add(s.Name, "frames from "+s.Name+" to "+other.Name, fmt.Sprint(o.Count),
				fmt.Sprintf("%d sent, %d received", s.Sent, other.Received),
				fmt.Sprintf("nothing happened for %v with frames left", time.Duration(o.patience()/simcore.Nanosecond)))
		}
	}
}

func (r *Result) add(nic, field, want, got, why string) {
	r.Findings = append(r.Findings, result.Finding{
		NIC: nic, Domain: result.Run, Field: field, Expected: want, Got: got,
		Text: fmt.Sprintf("%s: %s: expected %s, got %s", why, field, want, got),
	})
}

// runOne simulates both servers on one engine.
func runOne(ctx context.Context, o *Options, r *Result) (err error) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	rack, err := board.NewRack(e, pools, o.rack(), factory())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rack.Close()) }()
	var both [2]*server
	for i, v := range rack.Servers {
		if both[i], err = newServer(o, i, v); err != nil {
			return err
		}
	}
	c := phases{round: o.round(), patience: o.patience()}
	begin, delay := time.Now(), ThreadDelay()
	for c.phase < phaseOver {
		if err := errors.Join(e.RunUntil(c.end()), both[0].err(), both[1].err(), ctx.Err()); err != nil {
			return err
		}
		c.tell(o.Beat, o, both[0])
		if !c.step(both[0].state(), both[1].state()) {
			continue
		}
		if c.phase >= phaseCounters && r.Quanta == 0 {
			r.Quanta, r.Wall, r.Missing = c.done*ahead, time.Since(begin), ThreadDelay()-delay
		}
		for _, s := range both {
			s.enter(c.phase)
		}
	}
	both[0].over, both[1].over = true, true
	if c.phase == phaseOver {
		err = e.Run()
	}
	for i, s := range both {
		var wrong error
		r.Servers[i], wrong = s.report(c.ending())
		err = errors.Join(err, wrong)
	}
	return err
}

var _ error = (*UsageError)(nil)
