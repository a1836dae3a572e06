// Package steady estimates rates of completions by the method of batch means, with 95% confidence intervals.
//
// It knows no engine: the caller passes the time of each completion, in order.
//
// Invariants:
//   - A batch ends only when time has advanced, so that completions of one burst are in one batch.
//   - The same completions give the same estimate.
package steady
