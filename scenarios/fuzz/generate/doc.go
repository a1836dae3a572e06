// Package generate draws programs from seeds and mutates captured frames.
//
// It plays nothing: what a program reaches is counted when the player plays it.
//
// Invariants:
//   - The same seed and shape give the same program.
//   - Every program is legal.
package generate
