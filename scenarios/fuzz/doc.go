// Package fuzz plays random programs on a NIC and has the referee judge them. A program is a board and a list of
// operations: queues that are enabled and disabled, frames, valid and invalid work entries, settings, table commands,
// unusual requests, failing reads. It is plain data, derived from a seed, so a program that shows a mismatch can be
// shrunk, stored in a file and played again.
//
// Coverage is counted from what the NIC was seen to do, in bins that follow docs/nic.md, never from what the
// generator intended.
//
// This package runs campaigns: it draws programs (generate), plays them (player), counts what they reached (coverage)
// and shrinks those that fail (shrink). Their format is in program.
//
// Invariants:
//   - Every list of operations is a legal program: an operation whose precondition does not hold has no effect. So
//     any part of a program can be left out.
//   - The player keeps the rules that bind a driver, so every mismatch is the fault of the NIC or of the referee.
//   - Same seed and same NIC: same crossings, same digest, whatever the number of jobs.
//   - Every wait has a limit.
package fuzz
