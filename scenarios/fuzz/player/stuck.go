package player

import (
	"fmt"
	"strings"

	"nictwin/scenarios/observe/result"
)

// leastPatience exceeds the cycles that any step of a working device takes, except reads that time out.
const leastPatience = 8192

// StuckError reports that the NIC did not do in time what the player waited for.
type StuckError struct {
	What    string // what the player waited for
	Cycles  int64  // cycles from the start of the wait until the player gave up
	Since   int64  // cycle in which the wait began
	Blocked []Blocked
}

// Blocked describes one thing that makes no progress, as far as crossings show it: an entry, a descriptor, a read or
// frames.
type Blocked struct {
	Domain result.Domain
	Queue  int    // number of the queue, in domains rx and tx
	Index  int    // index of the descriptor or work entry, or noIndex
	Text   string // what a finding says about the blocked thing
}

const noIndex = -1

func (e *StuckError) Error() string {
	text := fmt.Sprintf("the NIC breaks [C3]: waited for %d cycles until %s", e.Cycles, e.What)
	for _, s := range e.Blocked {
		text += "\n  " + s.Text
	}
	return text
}

// Key names the failure, regardless of how long the wait was.
func (e *StuckError) Key() string { return "[C3] " + e.What }

// Finding returns the error as a finding about the first queue without progress, if there is one.
func (e *StuckError) Finding() result.Finding {
	f := result.Finding{Rule: "C3", Domain: result.Device, Field: "progress", Expected: e.What,
		Got: fmt.Sprintf("not within %d cycles", e.Cycles), Failure: result.Hang}
	if e.Since > 0 {
		f.Cycle = &e.Since
	}
	var all []string
	for i := range e.Blocked {
		s := &e.Blocked[i]
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

// stuck returns the error of a wait that began in the cycle given by from. status is the value of STATUS read last;
// nil: not read.
func (x *player) stuck(what string, from, now int64, status *uint32) error {
	e := &StuckError{What: what, Cycles: now - from, Since: from, Blocked: x.blocked()}
	if status == nil {
		return e
	}
	text := statusText(*status)
	if len(x.nic.order) == 0 {
		text += "; every read that it sent has been answered"
	}
	e.Blocked = append([]Blocked{{result.Device, 0, noIndex, text}}, e.Blocked...)
	return e
}

// TrialPatience returns the limit for candidates of a program that got stuck: several times its longest successful
// wait. A candidate may need longer, so its failure must be confirmed with the full limit.
func (v *Verdict) TrialPatience() int64 {
	const times = 4
	return min(v.Patience, max(leastPatience, times*v.Waited))
}
