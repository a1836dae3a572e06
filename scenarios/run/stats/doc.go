// Package stats turns the stamps of a run's messages into statistics: latencies by flow, kind and size, and rates over
// a warm window.
//
// It is pure: it knows neither an engine nor a stack. The caller passes simulated times.
//
// Invariants:
//   - A mean is exact. Percentiles come from HDR histograms of three significant digits, so that they are at most 0.1%
//     above the sample of their rank.
//   - Percentiles beyond p90 are left out for fewer than MinTail samples.
//   - A rate says whether it converged, and if not, why. It is never left out silently.
//   - Impossible stamps, such as those of messages that were not posted, are counted apart, and fail a run.
//   - The same stamps give the same statistics.
package stats
