// Package shrink makes a failing program smaller as long as it fails in the same way.
//
// Its caller defines what counts as failing.
//
// Invariants:
//   - The returned program is legal and was seen to fail.
//   - It ends after a bounded number of trials.
package shrink
