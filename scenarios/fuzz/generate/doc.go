// Package generate draws programs from seeds and mutates captured frames.
//
// It knows no board: whether a program is any good shows when it is played.
//
// Invariants:
//   - The same seed and shape give the same program.
//   - Every program is legal.
package generate
