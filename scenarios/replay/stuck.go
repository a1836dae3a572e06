package replay

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/observe/result"
)

// limits holds the time limits of a run.
type limits struct {
	look     simcore.Ps // interval at which the run checks its progress
	patience simcore.Ps // longest time without progress
}

// leastPolls is the minimum number of polls before a run that waits for the NIC to settle counts as stuck: at the first
// poll, the NIC may still be at work.
const leastPolls = 3

// limitsOf returns the limits for a board. Its patience is the longest of 2 ms, 800,000 cycles of the NIC, and the time
// that a frame and its TLPs may take in cables, links and memories.
func limitsOf(b *testbed.Bed) limits {
	const (
		patience, cycles = 2 * simcore.Millisecond, 800_000
		looks            = 400
	)
	l := limits{patience: max(patience, b.Cycles(cycles), b.Waits.Turn+board.CableTime(b.Cable()))}
	l.look = l.patience / looks
	return l
}

// little returns l lowered to the given patience, with a shorter look to
// match; 0 or a greater patience: unchanged.
func (l limits) little(patience simcore.Ps) limits {
	const looks = 16
	if patience == 0 || patience >= l.patience {
		return l
	}
	return limits{patience: patience, look: min(l.look, max(1, patience/looks))}
}

// stuck returns the error of a run without progress. Its text counts the outstanding frames and entries.
func (r *Run) stuck() error {
	during, s := fmt.Sprintf("for %v while %s", r.limits.patience, r.standing()), ""
	if r.rx != nil {
		s += fmt.Sprintf("; receive: %d frames in, %d delivered", r.ports.sent(), r.rx.got)
	}
	if r.tx != nil {
		s += fmt.Sprintf("; transmit: %d of %d frames posted, %d came out, %d refused", r.tx.next, r.tx.total, r.tx.out,
			r.tx.bad)
	}
	now, period := simcore.Now(r.engine), r.dev.Period()
	return &StuckError{"replay: nothing happened " + during + s, result.Finding{
		Rule: "C3", Domain: result.Device, Field: "progress", Expected: "some", Got: "none " + during + s,
		Cycle: new(int64(now / period)), Failure: result.Hang,
	}, r.standing(), int64(max(0, now-r.limits.patience) / period)}
}

// standing returns the key of a hang: the phase and the directions without progress, without counts.
func (r *Run) standing() string {
	key := phaseNames[r.phase]
	if r.rx != nil && r.ports.sent() < r.ports.total() {
		key += "; the NIC takes no frames"
	}
	if r.tx != nil && !r.tx.done() {
		key += "; entries do not end"
	}
	if r.phase == phaseSettle {
		key += "; " + statusText(r.polled[-1])
		if !r.accounted(r.polled) {
			key += "; frames are not accounted for"
		}
	}
	return key
}

// statusText formats a value of STATUS with the names of the bits that are set.
func statusText(v uint64) string {
	s, text := nicspec.StatusReg(v), fmt.Sprintf("STATUS %#x", v)
	for _, b := range []struct {
		set  bool
		name string
	}{{s.RxBusy(), "rx_busy"}, {s.TxBusy(), "tx_busy"}, {s.ReadsOutstanding(), "reads_outstanding"}} {
		if b.set {
			text += " " + b.name
		}
	}
	return text
}

// status describes the run, with the unfinished entries of each transmit queue.
func (r *Run) status() heartbeat.Status {
	doing, busy := filepath.Base(r.opts.Captures[0]), []string(nil)
	if more := len(r.opts.Captures) - 1; more > 0 {
		doing += fmt.Sprintf(" and %d more", more)
	}
	doing += ", " + phaseNames[r.phase]
	if r.rx != nil {
		doing += fmt.Sprintf(", %d frames in, %d delivered", r.ports.sent(), r.rx.got)
	}
	if r.tx != nil {
		for i, q := range r.tx.queues {
			if n := q.Unfinished(); n > 0 {
				busy = append(busy, fmt.Sprintf("txq %d: %d", i, n))
			}
		}
	}
	return heartbeat.Status{Doing: doing, Cycle: int64(simcore.Now(r.engine) / r.dev.Period()),
		Mark: r.progressCount(), Busy: strings.Join(busy, ", ")}
}

// StuckError reports that the NIC stopped making progress with work outstanding, which breaks [C3].
type StuckError struct {
	what     string
	finding  result.Finding
	standing string
	since    int64
}

// Since returns the cycle of the device from which on it made no progress.
func (e *StuckError) Since() int64 { return e.since }

// Key identifies what makes no progress; hangs of two runs with equal keys are of the same kind.
func (e *StuckError) Key() string { return e.standing }

func (e *StuckError) Error() string { return e.what }

// Finding returns the error as a finding.
func (e *StuckError) Finding() result.Finding { return e.finding }

// atRest turns one error of the engine into a finding: that it cannot end because the NIC's busy pin stays 1 although
// STATUS reads 0. It returns other errors unchanged.
func atRest(err error) error {
	var restless *rtlbridge.RestlessError
	if errors.As(err, &restless) {
		what := fmt.Sprintf("replay: STATUS reads 0 and every frame is accounted for, but %v [B8] [C3]", restless)
		return &StuckError{what, result.Finding{
			Rule: "B8", Domain: result.Device, Field: "busy",
			Expected: fmt.Sprintf("0 within %d cycles after all was done", restless.Patience),
			Got:      strings.Join(restless.Open, "; "), Cycle: new(int64(restless.Cycle)), Failure: result.Hang,
		}, "busy", int64(restless.Cycle) - int64(restless.Patience)}
	}
	return err
}
