package control

import (
	"errors"

	"nictwin/models/sim/field"
)

// Ps is a time in picoseconds.
type Ps = int64

// Spec holds the parameters of the loop.
type Spec struct {
	// PeriodPs is the time from one sample to the next one, at least. The published implementation samples as fast as
	// it can read the counters, in less than a microsecond; 1 us is an assumption.
	PeriodPs Ps `yaml:"period_ps"`

	// OccupancyLines is the threshold of the buffer's occupancy in cache lines: 70 (published implementation).
	OccupancyLines int64 `yaml:"occupancy_lines"`

	// TargetGbps is the use of the link, by packets' bytes to memory, that the host's own traffic has to leave: the
	// published implementation has 84 Gbps of 100, so 168 of CEIO's 200 (ce.link).
	TargetGbps int64 `yaml:"target_gbps"`

	// OccupancyGain and LinkGain are the inverse weights of a sample in the moving averages: 8 and 256 (published
	// implementation).
	OccupancyGain int64 `yaml:"occupancy_gain"`
	LinkGain      int64 `yaml:"link_gain"`

	// Levels is the number of levels of the throttle: 4 (published implementation, where the last one stops processes).
	Levels int `yaml:"levels"`

	// ReducePs is the time from one step down to the next one, at least: 150 us (published implementation). Traffic is
	// over when the link was unused for as long: assumption.
	ReducePs Ps `yaml:"reduce_ps"`
}

// MaxLevels bounds the levels of a throttle.
const MaxLevels = 16

// DefaultSpec returns the parameters of the published implementation, for a link of 200 Gbps.
func DefaultSpec() Spec {
	return Spec{PeriodPs: 1e6, OccupancyLines: 70, TargetGbps: 168, OccupancyGain: 8, LinkGain: 256, Levels: 4,
		ReducePs: 150e6}
}

// RestPs returns the longest time in which a loop without traffic comes to rest, give or take a few samples: it finds
// the traffic over and gives back each level, and its average of the occupancy falls below a line.
func (s *Spec) RestPs() Ps {
	const largest = 17 // natural logarithm of 2^24 lines, which is more than any buffer has
	return int64(s.Levels+1)*(s.ReducePs+s.PeriodPs) + largest*s.OccupancyGain*s.PeriodPs
}

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, from, to int64) { errs = append(errs, field.Within(path, v, from, to)) }
	const longest, most = 1e12, 1 << 16
	within("period_ps", s.PeriodPs, 1000, longest)
	within("occupancy_lines", s.OccupancyLines, 1, most)
	within("target_gbps", s.TargetGbps, 1, most)
	within("occupancy_gain", s.OccupancyGain, 1, most)
	within("link_gain", s.LinkGain, 1, most)
	within("levels", int64(s.Levels), 0, MaxLevels)
	within("reduce_ps", s.ReducePs, 0, longest)
	return errors.Join(errs...)
}
