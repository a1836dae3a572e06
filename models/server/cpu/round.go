package cpu

import (
	"sort"

	"nictwin/models/sim/simcore"
)

// never is later than any instant.
const never = simcore.MaxPs

// round is the polling order of a core's loops, with the current position: the poll of loops[next]
// is at time at, the others follow, each a poll later, round after round.
type round struct {
	loops  []*Loop
	before []simcore.Ps // polls of the loops before each; the last element, of all of them, is the length of a round
	at     simcore.Ps
	next   int
	awake  []*Loop // loops that a coming poll will find awake
}

// length returns how long it takes to poll every loop once.
func (r *round) length() simcore.Ps {
	if len(r.loops) == 0 {
		return 0
	}
	return r.before[len(r.loops)]
}

// arrange renumbers the loops after one was added or removed.
func (r *round) arrange() {
	r.before = append(r.before[:0], 0)
	for i, l := range r.loops {
		l.place = i
		r.before = append(r.before, r.before[i]+l.poll)
	}
}

// first returns the time of a loop's first poll in the current order.
func (r *round) first(l *Loop) simcore.Ps {
	off := r.before[l.place] - r.before[r.next]
	if off < 0 {
		off += r.length()
	}
	return r.at + off
}

// due returns the time of the first poll that finds a loop awake.
func (r *round) due(l *Loop) simcore.Ps {
	from := l.timer
	if l.wrote < never {
		from = min(from, l.wrote+1)
	}
	at := r.first(l)
	if l.ready || from <= at {
		return at
	}
	if from == never {
		return never
	}
	whole := r.length()
	return at + (from-at+whole-1)/whole*whole
}

// earliest returns the next poll that finds its loop awake, and the loop.
func (r *round) earliest() (*Loop, simcore.Ps) {
	var best *Loop
	at := never
	for _, l := range r.awake {
		if t := r.due(l); t < at {
			best, at = l, t
		}
	}
	return best, at
}

// skip advances to the first poll at or after a time; no loop that is awake is polled before it.
func (r *round) skip(now simcore.Ps) {
	if now <= r.at {
		return
	}
	whole := r.length()
	if whole == 0 {
		r.at = now
		return
	}
	r.at += (now - r.at) / whole * whole
	for r.at < now { // within the last round: find the position
		want := r.before[r.next] + now - r.at
		i := sort.Search(len(r.loops), func(i int) bool { return r.before[i+1] >= want }) + 1
		if i > len(r.loops) {
			i = len(r.loops)
		}
		r.at += r.before[i] - r.before[r.next]
		r.next = i % len(r.loops)
	}
}

// begin is called when a loop is polled: the next one follows.
func (r *round) begin(l *Loop) { r.next = (l.place + 1) % len(r.loops) }

// rouse and lull maintain the list awake.
func (r *round) rouse(l *Loop) {
	if !l.awake && !l.stopped {
		l.awake = true
		r.awake = append(r.awake, l)
	}
}

func (r *round) lull(l *Loop) {
	if !l.awake || l.ready || l.wrote != never || l.timer != never {
		return
	}
	l.awake = false
	for i, o := range r.awake {
		if o == l {
			last := len(r.awake) - 1
			r.awake[i], r.awake[last] = r.awake[last], nil
			r.awake = r.awake[:last]
			return
		}
	}
}
