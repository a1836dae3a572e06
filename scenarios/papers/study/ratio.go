package study

import (
	"math"
	"slices"
)

// Rate is a measured rate, or a rate divided by a number that is known exactly, with the name of the run that it was
// measured in.
type Rate struct {
	Value float64
	Run   string
}

// Ratio divides one rate by another one.
type Ratio struct{ Of, To Rate }

// Value returns the quotient.
func (r Ratio) Value() float64 { return r.Of.Value / r.To.Value }

// Most returns the largest of some ratios, and the names of the runs that decide it: those of the largest ratio, and of
// every other one that may be larger, as the upper end of its interval reaches the lower end of the largest one's. An
// interval of a ratio takes both rates at the worst ends of their 95% intervals. A claim about the largest ratio stands
// on these runs alone.
func (s *Session) Most(ratios ...Ratio) (value float64, runs []string) {
	return s.extreme(ratios, func(a, b float64) bool { return a > b })
}

// Least returns the smallest of some ratios, and the names of the runs that decide it, as Most does for the largest.
func (s *Session) Least(ratios ...Ratio) (value float64, runs []string) {
	return s.extreme(ratios, func(a, b float64) bool { return a < b })
}

// extreme returns the value that is before all others, and the runs that decide it.
func (s *Session) extreme(ratios []Ratio, before func(a, b float64) bool) (value float64, runs []string) {
	if len(ratios) == 0 {
		return math.NaN(), nil
	}
	first := ratios[0]
	for _, r := range ratios {
		if before(r.Value(), first.Value()) || math.IsNaN(r.Value()) {
			first = r
		}
	}
	low, high := s.bounds(first)
	for _, r := range ratios {
		least, most := s.bounds(r)
		apart := before(low, most) && before(high, least)
		if r == first || !apart {
			runs = append(runs, r.Of.Run, r.To.Run)
		}
	}
	slices.Sort(runs)
	return first.Value(), slices.Compact(runs)
}

// bounds returns the ends of the interval of a ratio: from 0 to infinity if one of its rates has no interval.
func (s *Session) bounds(r Ratio) (low, high float64) {
	a, b := s.relative(r.Of.Run), s.relative(r.To.Run)
	if math.IsInf(a+b, 1) {
		return 0, math.Inf(1)
	}
	v := r.Value()
	return v * (1 - a) / (1 + b), v * (1 + a) / (1 - b)
}

// relative returns the half width of the interval of a run's rate, relative to the rate: infinity if it has none. Runs
// that are not known although their interval is narrow have too few round trips for it.
func (s *Session) relative(run string) float64 {
	for _, r := range s.Outcome.Runs {
		if r.Name == run && r.Relative < 1 && (r.Converged || r.Relative > Precision) {
			return r.Relative
		}
	}
	return math.Inf(1)
}
