package steady

import (
	"math"

	"nictwin/models/sim/simcore"
)

// Ratio estimates a rate from marks of time, each with the bytes so far: bytes over time of all batches, which are from
// mark to mark and may differ in length. The interval is that of merged batches.
func Ratio(at []simcore.Ps, bytes []uint64) Estimate {
	n := len(at) - 1
	if n < 1 || at[n] <= at[0] {
		return Estimate{}
	}
	e := Estimate{RoundTrips: n, Bytes: bytes[n] - bytes[0], Batches: n, From: at[0], Span: at[n] - at[0]}
	e.Rate = float64(e.Bytes) / float64(e.Span)
	spans := make([]span, n)
	for i := range spans {
		spans[i] = span{at[i+1] - at[i], bytes[i+1] - bytes[i]}
	}
	e.merge(spans)
	return e
}

// merge sets the half width of the interval: the wider one of those from MinBatches or more merged batches, and from
// twice as many. Batches whose neighbours correlate negatively are parts of waves and say less than merged ones: the
// shorter batches are left out then.
func (e *Estimate) merge(spans []span) {
	if len(spans) < MinBatches || e.Rate <= 0 {
		return
	}
	for len(spans) >= 4*MinBatches {
		spans = merged(spans)
	}
	half, r := e.ratioHalf(spans)
	if len(spans) >= 2*MinBatches {
		longer, _ := e.ratioHalf(merged(spans))
		if half = max(half, longer); r < -z95/math.Sqrt(float64(len(spans))) {
			half = longer
		}
	}
	e.Half, e.Converged = half, half <= Precision*e.Rate
}

// merged returns batches of two each. A single batch at the end is left out of them.
func merged(all []span) []span {
	pairs := make([]span, 0, len(all)/2)
	for i := 0; i+1 < len(all); i += 2 {
		pairs = append(pairs, span{all[i].took + all[i+1].took, all[i].bytes + all[i+1].bytes})
	}
	return pairs
}

// ratioHalf returns the half width of the interval of a ratio estimator, and the correlation of neighbouring batches.
// Batches that correlate count as fewer: as many as independent ones that would have the same variance of the mean if
// they were a first-order autoregression.
func (e *Estimate) ratioHalf(spans []span) (half, r float64) {
	n, mean, sum, took := float64(len(spans)), 0.0, 0.0, 0.0
	off := make([]float64, len(spans)) // bytes beyond those of the mean rate
	for i, s := range spans {
		off[i] = float64(s.bytes) - e.Rate*float64(s.took)
		mean, took = mean+off[i]/n, took+float64(s.took)/n
	}
	for _, d := range off {
		sum += (d - mean) * (d - mean)
	}
	r = correlation(off, mean, sum, e.Rate*took)
	independent := n
	if sure := r + (1+3*r)/n; sure > 0 { // bias of a short series (Marriott and Pope, Biometrika 41, 1954)
		independent = max(2, n*(1-sure)/(1+sure))
	}
	return student(independent-1) * math.Sqrt(sum/(n-1)/independent) / took, r
}

// correlation returns the correlation of neighbouring values by von Neumann's ratio (Annals of Mathematical Statistics
// 12, 1941), with their mean and the sum of the squares of their deviations; 0 if all deviations are rounding errors of
// numbers of the given size.
func correlation(values []float64, mean, sum, size float64) float64 {
	const rounding = 1e-24 // of the square of the size
	if sum <= rounding*size*size {
		return 0
	}
	steps := 0.0
	for i, v := range values[1:] {
		steps += (v - values[i]) * (v - values[i])
	}
	return 1 - steps/sum/2
}

// z95 is the 97.5% quantile of the normal distribution.
const z95 = 1.96

// t95 lists the 97.5% quantiles of Student's distribution for 1, 2, and so on degrees of freedom; the last one serves
// for more.
var t95 = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
	2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064}

// student returns the 97.5% quantile of Student's distribution for 1 or more degrees of freedom, interpolated in their
// inverse.
func student(freedom float64) float64 {
	i := int(freedom)
	if i >= len(t95) {
		return t95[len(t95)-1]
	}
	low, high := t95[i-1], t95[i]
	return high + (low-high)*(1/freedom-1/float64(i+1))*float64(i*(i+1))
}
