// Package ring tracks the prefetched entries of a queue's ring [Q3, T2]: how many to read next,
// which have arrived, and from where on a failed read makes them unusable.
//
// It issues no reads and knows no queue state; the caller owns both.
//
// Invariants:
//   - Entries are used in ring order, and only once all their slots have arrived.
//   - Indices are free-running 16-bit numbers, as on the doorbell.
//   - Nothing allocates after NewWindow.
package ring
