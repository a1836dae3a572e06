// Package player plays a program on a board: the driver's side of every operation, and the other parties of the
// traffic. Its watcher counts what was reached; its verdict combines the referee's findings and the device's.
//
// It makes no random choices: playing a program twice gives the same run.
//
// Invariants:
//   - Every wait has a limit; a device that misses it is reported by StuckError.
package player
