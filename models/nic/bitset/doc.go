// Package bitset is a set of queue numbers with round-robin selection.
//
// It knows neither queues nor why they are in the set.
//
// Invariants:
//   - Numbers are 0 to 255; Next returns each member once before any again.
//   - Nothing allocates.
package bitset
