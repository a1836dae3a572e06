// Package receive has the checks of reception [R, H, S, A]: parsing, steering and RSS, drops by cause, where bytes and
// completion entries land, rings, failing descriptor reads, accounts.
//
// Invariants:
//   - Every frame played is delivered or counted under one cause.
package receive
