package monitor

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/stack/baseline/hostcc/control"
)

// Ps is a time in picoseconds.
type Ps = control.Ps

// Throttled selects the cores whose traffic is throttled.
type Throttled string

// Cores to throttle.
const (
	ThrottleOthers Throttled = "others" // those that run no flow of the stack
	ThrottleAll    Throttled = "all"
)

// Spec holds the parameters of a host's control loop and throttle.
type Spec struct {
	control.Spec `yaml:",inline"`

	// SamplePs is the time that the core of the loop takes to read the counters and decide: assumption.
	SamplePs Ps `yaml:"sample_ps"`

	// Rate bounds the traffic of a core behind its private caches at level 1; each further level has half the rate of
	// the level before: assumption.
	Rate simcore.Rate `yaml:"rate"`

	Throttle Throttled `yaml:"throttle"`
}

// DefaultSpec returns the parameters of the published implementation, as far as it has them.
func DefaultSpec() Spec {
	const level1 = 40 // Gbps
	return Spec{Spec: control.DefaultSpec(), SamplePs: 500_000, Rate: simcore.Gbps(level1), Throttle: ThrottleOthers}
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	const longest = 1e9
	errs := []error{s.Spec.Validate(), field.Within("sample_ps", s.SamplePs, 0, longest)}
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	slowest := simcore.Second >> min(max(s.Levels-1, 0), control.MaxLevels-1) // pace.Check, at the highest level
	bad(s.Rate.Bytes > 0 && s.Rate.Bytes <= 1<<30 && s.Rate.Ps > 0 && s.Rate.Ps <= slowest, "rate",
		"%d bytes in %d ps: want 1 to 2^30 bytes in 1 to %d ps", s.Rate.Bytes, s.Rate.Ps, slowest)
	bad(s.Throttle == ThrottleOthers || s.Throttle == ThrottleAll, "throttle", "%q: want %s or %s", s.Throttle,
		ThrottleOthers, ThrottleAll)
	return errors.Join(errs...)
}

// RateOf returns the rate of a level for each core; zero: no bound.
func (s *Spec) RateOf(level int) simcore.Rate {
	if level == 0 {
		return simcore.Rate{}
	}
	return simcore.Rate{Bytes: s.Rate.Bytes, Ps: s.Rate.Ps << (level - 1)}
}
