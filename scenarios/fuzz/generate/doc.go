// Package generate draws programs from seeds, and alters what was captured.
//
// It knows no board: what it draws is judged by playing it.
//
// Invariants:
//   - The same seed and shape give the same program.
//   - Every program is legal.
package generate
