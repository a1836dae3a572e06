package player

import (
	"fmt"
	"strings"

	"nictwin/scenarios/observe/result"
)

// leastPatience outlasts what a device that works does in any one go, but for time-outs of reads.
const leastPatience = 8192

// StuckError says that the NIC did not do in time what it must.
type StuckError struct {
	What     string // was waited for
	Cycles   int64  // that it had
	Since    int64  // cycle in which the wait began
	Standing []Standing
}

// Standing names what stands still, as far as the boundary shows.
type Standing struct {
	Domain result.Domain
	Queue  int    // in domains rx and tx
	Index  int    // of the descriptor or work entry; none: noIndex
	Text   string // whole
}

const noIndex = -1

func (e *StuckError) Error() string {
	text := fmt.Sprintf("the NIC breaks [C3]: waited for %d cycles until %s", e.Cycles, e.What)
	for _, s := range e.Standing {
		text += "\n  " + s.Text
	}
	return text
}

// Key names what failed, however long it was waited for.
func (e *StuckError) Key() string { return "[C3] " + e.What }

// Finding is the error in fields: of the first queue that stands still, if one does.
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

// stuck makes the error of a wait that lasted from a cycle on. status is what STATUS read last; nil: it was not read.
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

// TrialPatience returns the patience for parts of a program that got stuck: several times what the longest wait took
// that ended before. A part may take longer, so that what comes of it has to be confirmed with more.
func (v *Verdict) TrialPatience() int64 {
	const times = 4
	return min(v.Patience, max(leastPatience, times*v.Waited))
}
