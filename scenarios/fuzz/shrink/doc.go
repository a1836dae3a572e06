// Package shrink makes a failing program smaller as long as it fails in the same way.
//
// Its caller decides whether a program fails in the same way.
//
// Invariants:
//   - The returned program is legal and was seen to fail.
//   - It ends after a bounded number of trials.
package shrink
