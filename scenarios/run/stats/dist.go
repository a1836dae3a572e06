package stats

import (
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nictwin/models/sim/simcore"
)

// MinTail is the number of samples without which a percentile beyond p90 says nothing.
const MinTail = 1000

// Limits of a histogram: a picosecond to far more than a run may take.
const (
	shortest = 1
	longest  = int64(4000 * simcore.Second)
	digits   = 3
)

// Dist is a distribution of times. It is sparse: most flows have few different latencies.
type Dist struct {
	hist *hdrhistogram.PackedHistogram
	n    int64
	max  simcore.Ps
	high uint64 // sum of all samples, 128 bits wide
	low  uint64
}

// Add adds a sample. Negative times and times beyond any run are mistakes of the caller and count as the nearest limit.
func (d *Dist) Add(t simcore.Ps) {
	if d.hist == nil {
		d.hist = hdrhistogram.NewPacked(shortest, longest, digits)
	}
	v := min(max(int64(t), 0), longest)
	d.n++
	d.max = max(d.max, simcore.Ps(v))
	var carry uint64
	d.low, carry = bits.Add64(d.low, uint64(v), 0)
	d.high += carry
	_ = d.hist.RecordValue(v) // fails only beyond the limits
}

// Merge adds the samples of another distribution.
func (d *Dist) Merge(from *Dist) {
	if from.n == 0 {
		return
	}
	if d.hist == nil {
		d.hist = hdrhistogram.NewPacked(shortest, longest, digits)
	}
	d.hist.Merge(from.hist) // drops nothing: both have the same limits
	d.n += from.n
	d.max = max(d.max, from.max)
	var carry uint64
	d.low, carry = bits.Add64(d.low, from.low, 0)
	d.high += from.high + carry
}

// Count returns the number of samples.
func (d *Dist) Count() int64 { return d.n }

// Max returns the greatest sample.
func (d *Dist) Max() simcore.Ps { return d.max }

// Mean returns the mean in picoseconds, from the exact sum.
func (d *Dist) Mean() float64 {
	if d.n == 0 {
		return 0
	}
	return (math.Ldexp(float64(d.high), 64) + float64(d.low)) / float64(d.n)
}

// Percentile returns the sample of rank p percent of the number of samples, rounded, but at most 0.1% above it. Beyond
// p90, ok is false for fewer than MinTail samples; without samples always.
func (d *Dist) Percentile(p float64) (t simcore.Ps, ok bool) {
	const tail = 90
	if d.n == 0 || p > tail && d.n < MinTail {
		return 0, false
	}
	return min(simcore.Ps(d.hist.ValueAtPercentile(p)), d.max), true
}
