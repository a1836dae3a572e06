package player

import (
	"fmt"
	"strings"

	"nictwin/scenarios/observe/result"
)

// leastPatience exceeds the time of any step of a working device, except time-outs of reads.
const leastPatience = 8192

// StuckError reports that the NIC missed a time limit.
type StuckError struct {
	What     string // what the player waited for
	Cycles   int64  // cycles that the NIC was given
	Since    int64  // cycle in which the wait began
	Standing []Standing
}

// Standing names something that makes no progress, as far as the boundary shows.
type Standing struct {
	Domain result.Domain
	Queue  int    // in domains rx and tx
	Index  int    // of the descriptor or work entry; none: noIndex
	Text   string // complete description
}

const noIndex = -1

func (e *StuckError) Error() string {
	text := fmt.Sprintf("the NIC breaks [C3]: waited for %d cycles until %s", e.Cycles, e.What)
	for _, s := range e.Standing {
		text += "\n  " + s.Text
	}
	return text
}

// Key names the failure, regardless of how long the wait was.
func (e *StuckError) Key() string { return "[C3] " + e.What }

// Finding returns the error as a finding about the first queue without progress, if there is one.
func (e *StuckError) Finding() result.Finding {
	f := result.Finding{Rule: "C3", Domain: result.Device, Field: "progress", Expected: e.What,
		Got: fmt.Sprintf("not within %d cycles", e.Cycles)}
	if e.Since > 0 {
		f.Cycle = &e.Since
	}
	var all []string
	for i := range e.Standing {
		s := &e.Standing[i]
		all = append(all, s.Text)
		if f.Domain == result.Device && (s.Domain == result.Rx || s.Domain == result.Tx) {
			f.Domain, f.Queue = s.Domain, &s.Queue
			if s.Index != noIndex {
				f.Index = &s.Index
			}
		}
	}
	if len(all) > 0 {
		f.Got += ": " + strings.Join(all, "; ")
	}
	return f
}

// stuck makes the error of a wait from a cycle on. status is the last value of STATUS; nil: not read.
func (x *player) stuck(what string, from, now int64, status *uint32) error {
	e := &StuckError{What: what, Cycles: now - from, Since: from, Standing: x.standing()}
	if status == nil {
		return e
	}
	text := statusText(*status)
	if len(x.nic.order) == 0 {
		text += "; every read that it sent has been answered"
	}
	e.Standing = append([]Standing{{result.Device, 0, noIndex, text}}, e.Standing...)
	return e
}

// TrialPatience returns the patience for parts of a program that got stuck: several times its longest successful
// wait. A part may need longer, so its failure must be confirmed with more.
func (v *Verdict) TrialPatience() int64 {
	const times = 4
	return min(v.Patience, max(leastPatience, times*v.Waited))
}
