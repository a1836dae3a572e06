package replay

import (
	"context"
	"errors"
	"time"

	"nictwin/golden"
	"nictwin/models/boundary"
	"nictwin/models/nic"
	"nictwin/rtlbridge"
)

// judge joins the referee to the run, and keeps its clock.
type judge struct {
	ref    *golden.Referee
	calls  uint64
	timed  time.Duration // of every sampleEvery-th call
	report *golden.Report
}

// sampleEvery is how many crossings pass for one whose judging is timed: the
// clock must not cost what it measures.
const sampleEvery = 64

func newJudge(r *Run) (*judge, error) {
	ref, err := golden.New(golden.DefaultConfig(nic.DefaultSpec()))
	if err != nil {
		return nil, err
	}
	j := &judge{ref: ref}
	r.dev.Observe(j.observe)
	return j, nil
}

func (j *judge) observe(c boundary.Crossing) {
	j.calls++
	if j.calls%sampleEvery != 0 {
		j.ref.Observe(c)
		return
	}
	begin := time.Now()
	j.ref.Observe(c)
	j.timed += time.Since(begin)
}

// wall is an estimate of the time that judging took.
func (j *judge) wall() time.Duration { return j.timed * sampleEvery }

// finish hears the referee, unless the run was broken off by something that is
// no fault of the NIC: then what is missing means nothing.
func (j *judge) finish(playErr error) *golden.Report {
	var infra *rtlbridge.InfraError
	if errors.As(playErr, &infra) || errors.Is(playErr, context.Canceled) {
		return nil
	}
	j.report = j.ref.Finish()
	return j.report
}

// Close ends the artifacts.
func (j *judge) Close() error { return nil }
