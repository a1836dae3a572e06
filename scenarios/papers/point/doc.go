// Package point plays points of figures. A point is a scenario, written by its experiment, which package run parses
// and plays; its rates and counters are those of a window behind a warm-up.
//
// Invariants:
//   - A point in which anything was lost, or arrived late or wrong, fails the experiment.
//   - Each rate belongs to a run that was recorded with its precision (study.Run). One of flows that had posted all
//     of their messages before the window ended has not converged.
package point
