// Package transmit has the checks of work entries [T, W]: layout and status of every entry, rings and doorbells,
// failing reads, long entries and pushed blocks.
//
// Changes that a Send makes to its frame are in package offloads, copies in package copies.
//
// Invariants:
//   - For each failure, checks require the status of every entry, and the state of the queue afterwards.
package transmit
