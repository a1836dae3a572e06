// Package player plays a program on a board: the driver's side of every operation, and who else takes part. Its watcher
// counts what was reached, and its verdict is the referee's and the device's.
//
// It draws nothing: the same program is the same run.
//
// Invariants:
//   - Every wait has a limit; a device that does not do in time what it must is found by StuckError.
package player
