// Package phase describes when something is played beside the traffic of a scenario: loads of memories, captures.
package phase

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
)

// Spec gives a begin and an end, from the begin of the traffic on.
type Spec struct {
	From  quantity.Time  `yaml:"from"`
	Until *quantity.Time `yaml:"until"` // nil: the end of the traffic
}

// Longest bounds the times of a phase.
const Longest = quantity.Time(simcore.MaxPs / 4)

// Validate returns every error of a spec, each a field.Error.
func Validate(s Spec) error {
	var errs []error
	if s.From < 0 || s.From > Longest {
		errs = append(errs, field.Errorf("from", "%v: want 0ps to %v", s.From, Longest))
	}
	if s.Until != nil && (*s.Until <= s.From || *s.Until > Longest) {
		errs = append(errs, field.Errorf("until", "%v: want more than %v, %v, or none for the end of the traffic",
			*s.Until, field.Path("from"), s.From))
	}
	return errors.Join(errs...)
}

// Times returns the begin and the end for traffic that begins at a time; to is 0 without an end.
func (s Spec) Times(began simcore.Ps) (from, to simcore.Ps) {
	if s.Until != nil {
		to = began + simcore.Ps(*s.Until)
	}
	return began + simcore.Ps(s.From), to
}

// Within returns the part of the phase in traffic that took a time, from its begin on.
func (s Spec) Within(traffic simcore.Ps) (from, to simcore.Ps) {
	from, to = simcore.Ps(s.From), traffic
	if s.Until != nil {
		to = min(to, simcore.Ps(*s.Until))
	}
	return from, max(from, to)
}
