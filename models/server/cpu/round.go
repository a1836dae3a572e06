package cpu

import (
	"sort"

	"nictwin/models/sim/simcore"
)

// never is later than any instant.
const never = simcore.MaxPs

// round is the polling order of a core's loops, with the current position: loops[next] is polled at
// time round.at. Each of the others follows when its predecessor's poll has ended, round after round.
type round struct {
	loops  []*Loop
	before []simcore.Ps // before[i]: time to poll loops[0] to loops[i-1]; before[len(loops)]: length of a round
	at     simcore.Ps
	next   int
	awake  []*Loop // loops that have something to wake them: work left, a write or a timer; see due
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

// first returns the time of a loop's next poll.
func (r *round) first(l *Loop) simcore.Ps {
	off := r.before[l.place] - r.before[r.next]
	if off < 0 {
		off += r.length()
	}
	return r.at + off
}

// due returns the time of the first poll that will find a loop awake.
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
	length := r.length()
	return at + (from-at+length-1)/length*length
}

// earliest returns the first poll that will find its loop awake: the loop and the time.
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

// skip advances the position to the first poll at or after now. No loop may be due before now.
func (r *round) skip(now simcore.Ps) {
	if now <= r.at {
		return
	}
	length := r.length()
	if length == 0 {
		r.at = now
		return
	}
	r.at += (now - r.at) / length * length
	for r.at < now { // the remaining polls are less than a round: find the first one
		want := r.before[r.next] + now - r.at
		i := sort.Search(len(r.loops), func(i int) bool { return r.before[i+1] >= want }) + 1
		if i > len(r.loops) {
			i = len(r.loops)
		}
		r.at += r.before[i] - r.before[r.next]
		r.next = i % len(r.loops)
	}
}

// begin advances the position past a loop that is being polled.
func (r *round) begin(l *Loop) { r.next = (l.place + 1) % len(r.loops) }

// markAwake and markAsleep enter a loop in the list `awake`, and remove it.
func (r *round) markAwake(l *Loop) {
	if !l.awake && !l.stopped {
		l.awake = true
		r.awake = append(r.awake, l)
	}
}

func (r *round) markAsleep(l *Loop) {
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
