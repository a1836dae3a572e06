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

// Options describe the NIC to be judged, and select what is reported.
type Options struct {
	Name  string        // of the NIC; empty if it is the only one
	Build nicspec.Build // of the NIC [B2]

	Period simcore.Ps // of the NIC's clock; 0: the one that the NIC reports, or else simcore's default

	MaxMismatches int // mismatches kept with all their fields; 0: golden's default
	OnMismatch    func(*verdict.Mismatch)

	Log *Log // receives the crossings; may be nil

	// Comment returns the text that frames.pcapng shows for a mismatch; nil: the first line of the mismatch.
	Comment func(*verdict.Mismatch) string
}

// Judge is the referee of one NIC.
type Judge struct {
	Name    string
	Referee *golden.Referee

	cycles int64
	calls  uint64
	timed  time.Duration // time spent judging; estimated after timedFirst calls
	frames *frameLog     // nil without a log

	rx, tx histogram // latencies of compared frames
}

// Reading the clock takes time itself. So only the first timedFirst crossings are timed one by one; after them one in
// sampleEvery is, and stands for all of these. In a run so short that all are timed, a pause of the machine therefore
// counts once, not sampleEvery times.
const (
	timedFirst  = 4096
	sampleEvery = 64
)

// Attach attaches a referee to a NIC.
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
		cfg.OnFrame = func(e *golden.FrameEvent) {
			j.observeLatency(e)
			frames.compared(e)
		}
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

// Cycles returns the number of cycles up to the last crossing.
func (j *Judge) Cycles() int64 { return j.cycles }

// Took estimates the wall time spent judging. It is for people: no result depends on it.
func (j *Judge) Took() time.Duration { return j.timed }

// Ending selects how a run ended.
type Ending int

// Ways in which a run can end.
const (
	Whole   Ending = iota // everything was played and is idle
	Stopped               // the NIC makes no progress although work is left, which is a finding
	Broken                // aborted for another reason: only mismatches found before count
)

// Finish ends the referee and returns its report.
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

// Cut describes a log file that was cut at its limit.
type Cut struct {
	File string `json:"file"`
	trace.Cut
}
