// Package steady estimates rates of completions by the method of batch means, with 95% confidence intervals.
//
// It knows no engine: the caller passes the time of each completion, in order.
//
// The interval of a Window, and of a Meter without Doubling, is that of batch means by Student's quantile, which takes
// batches as independent; Widened corrects it for their correlation.
//
// Ratio, and a Meter with Doubling, judge merged batches. Batches are merged in pairs until fewer than 40 are left; the
// interval is the wider one of those from these and from them merged once more, 10 or more. Neighbours that correlate
// make fewer independent batches, whose number gives variance and Student's quantile, so that the interval accounts for
// what a few correlated batches cannot show. Shorter batches whose neighbours correlate negatively, as parts of waves
// do, are left out. In 95 of 100 runs that are called converged the true mean lies in the interval, also where
// completions correlate over a tenth of the run (TestCoverage), although the meter looks after every batch. The share
// is lower for a rate that few runs call converged.
//
// Invariants:
//   - A batch ends only when time has advanced, so that completions of one burst are in one batch.
//   - The same completions give the same estimate.
package steady
