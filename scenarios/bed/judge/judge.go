package judge

import (
	"time"

	"nictwin/golden"
	"nictwin/golden/trace"
	"nictwin/golden/verdict"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
)

// Options say what the referee of a NIC is to watch.
type Options struct {
	Name  string        // of the NIC, empty where it is the only one
	Build nicspec.Build // what it has [B2]

	Period simcore.Ps // of the NIC's clock; 0: as the NIC has it, or the default if it does not say

	MaxMismatches int // kept in full; 0: as many as golden keeps by itself
	OnMismatch    func(*verdict.Mismatch)

	Log *Log // what crosses is written there; nil: nowhere

	// Comment is what frames.pcapng says of a mismatch; nil: its first line.
	Comment func(*verdict.Mismatch) string
}

// Judge is the referee of one NIC.
type Judge struct {
	Name    string
	Referee *golden.Referee

	cycles int64
	calls  uint64
	timed  time.Duration // of judging; estimated once there were more than timedFirst calls
	frames *frameLog     // nil without a log
}

// Judging is timed for each of the first crossings, so that in a short run a pause of the machine counts once, and
// then for one in sampleEvery: reading the clock must not slow down what it measures.
const (
	timedFirst  = 4096
	sampleEvery = 64
)

// Attach has the referee watch a NIC from now on.
func Attach(nic boundary.Observable, o Options) (*Judge, error) {
	cfg := golden.DefaultConfig(o.Build)
	cfg.NIC = o.Name
	if o.MaxMismatches != 0 {
		cfg.MaxMismatches = o.MaxMismatches
	}
	cfg.OnMismatch = o.OnMismatch
	j := &Judge{Name: o.Name}
	if clocked, ok := nic.(interface{ Period() simcore.Ps }); ok && o.Period == 0 {
		o.Period = clocked.Period()
	}
	if o.Log != nil {
		if o.Comment == nil {
			o.Comment = func(m *verdict.Mismatch) string { return m.String() }
		}
		events, frames := o.Log.add(o.Name, o.Period, o.Comment)
		j.frames = frames
		nic.Observe(events.Observe)
		cfg.OnFrame = frames.compared
	}
	var err error
	if j.Referee, err = golden.New(cfg); err != nil {
		return nil, err
	}
	nic.Observe(j.observe)
	nic.ObserveRest(j.Referee.Rest)
	nic.ObserveHeld(j.Referee.Held)
	return j, nil
}

func (j *Judge) observe(c boundary.Crossing) {
	j.cycles = max(j.cycles, c.Last+1)
	j.calls++
	if j.calls > timedFirst && j.calls%sampleEvery != 0 {
		j.Referee.Observe(c)
		return
	}
	begin := time.Now()
	j.Referee.Observe(c)
	if j.calls > timedFirst {
		j.timed += time.Since(begin) * sampleEvery
	} else {
		j.timed += time.Since(begin)
	}
}

// Cycles is how many there were until the last crossing.
func (j *Judge) Cycles() int64 { return j.cycles }

// Took estimates the wall time that judging took, for people.
func (j *Judge) Took() time.Duration { return j.timed }

// Ending is how a run came to its end.
type Ending int

// Endings.
const (
	Whole   Ending = iota // all was played, and everything is at rest
	Stopped               // the NIC stands still with work left, which is a finding
	Broken                // broken off for other reasons: only what was found on the way counts
)

// Finish hears the referee.
func (j *Judge) Finish(how Ending, counters ...golden.CounterValue) *golden.Report {
	var rep *golden.Report
	switch how {
	case Whole:
		rep = j.Referee.Finish(counters...)
	case Stopped:
		rep = j.Referee.FinishStopped()
	default:
		rep = j.Referee.BreakOff()
	}
	if rep != nil && j.frames != nil {
		j.frames.found(rep.List)
	}
	return rep
}

// Cut is a file of a log that has reached its limit.
type Cut struct {
	File string `json:"file"`
	trace.Cut
}
