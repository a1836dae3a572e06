// Package delta searches for smaller inputs that fail in the same way, by delta debugging.
//
// It knows no input: callers say how long one is, play a smaller one and report whether it fails as the original did.
// Every function tries in a fixed order, so the same answers give the same input.
//
// Invariants:
//   - What a search settles on was seen to fail, or is the original.
//   - A search ends after a bounded number of trials, and starts none after its context has ended.
package delta
