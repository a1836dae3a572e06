// Package shrink makes a program that fails smaller, while it fails in the same way.
//
// It does not know what failing is: its caller does.
//
// Invariants:
//   - What it returns is a legal program that was seen to fail.
//   - It ends, after a fixed number of trials at most.
package shrink
