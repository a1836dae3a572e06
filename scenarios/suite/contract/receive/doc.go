// Package receive has the checks of reception [R, H, S, A]: parsing, steering and RSS, drops by cause, where bytes and
// completion entries are written, rings, failing descriptor reads, accounts.
//
// Invariants:
//   - Every frame played must be delivered, or counted as dropped for one cause.
package receive
