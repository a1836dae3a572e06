package apps

import (
	"math"

	"nictwin/models/sim/field"
)

// Load says when a client asks.
type Load struct {
	Requests uint32 `yaml:"requests"` // in all; 0: no limit
	BeginPs  Ps     `yaml:"begin_ps"` // time of the first request
	EndPs    Ps     `yaml:"end_ps"`   // no request from then on; 0: no limit
	EveryPs  Ps     `yaml:"every_ps"` // time from one request to the next; 0: as soon as the flow has room
}

// Validate returns an error of the load.
func (l *Load) Validate() error {
	switch {
	case l.BeginPs < 0:
		return field.Errorf("begin_ps", "%d: want 0 or more", l.BeginPs)
	case l.EndPs != 0 && l.EndPs <= l.BeginPs:
		return field.Errorf("end_ps", "%d: want more than %v %d, or 0", l.EndPs, field.Path("begin_ps"), l.BeginPs)
	case l.EveryPs < 0:
		return field.Errorf("every_ps", "%d: want 0 or more", l.EveryPs)
	case l.Requests == 0 && l.EndPs == 0:
		return field.Errorf("requests", ": want a number, or %v", field.Path("end_ps"))
	}
	return nil
}

// never is the time of a timer that does not run.
const never = Ps(math.MaxInt64)

// schedule is a load in progress.
type schedule struct {
	Load
	asked uint32
	ended bool
}

// due reports whether the next request may be asked now, and counts it.
func (s *schedule) due(now Ps) bool {
	if s.over(now) || now < s.next() {
		return false
	}
	s.asked++
	s.over(now)
	return true
}

// over reports whether no request follows.
func (s *schedule) over(now Ps) bool {
	if s.Requests != 0 && s.asked == s.Requests || s.EndPs != 0 && max(now, s.next()) >= s.EndPs {
		s.ended = true
	}
	return s.ended
}

func (s *schedule) next() Ps { return s.BeginPs + Ps(s.asked)*s.EveryPs }

// Wake returns the time of the next request, or never.
func (s *schedule) Wake() Ps {
	if s.ended {
		return never
	}
	return s.next()
}

// Idle reports whether no request follows.
func (s *schedule) Idle() bool { return s.ended }
