// Package transmit has the checks of work entries [T, W]: layout and status of every entry, rings and doorbells,
// failing reads, long entries and pushed blocks.
//
// Changes that a Send makes to its frame are in offloads, copies in copies.
//
// Invariants:
//   - Of each failure the checks say which entry gets which status, and what the queue does after it.
package transmit
