// Package fuzz plays random programs on a NIC and has the referee judge them. A program is a board and a list of
// operations: queues that come and go, frames, work entries good and bad, settings, table commands, odd requests,
// reads that fail. It is plain data, derived from a seed, so that a program that shows a mismatch can be shrunk, kept
// in a file and played again.
//
// Coverage is counted from what the NIC was seen to do, in bins that follow docs/nic.md, never from what the generator
// meant to try.
//
// This package runs campaigns: it draws programs (generate), plays them (player), counts what they reached (coverage)
// and shrinks those that fail (shrink). Their format is in program.
//
// Invariants:
//   - Every list of operations is a legal program: what an operation needs and does not find, it goes without. So any
//     part of a program can be left out.
//   - The software that plays it keeps the rules that bind a driver, so every mismatch is the NIC's or the referee's.
//   - Same seed and same NIC: same crossings, same digest, whatever the number of jobs.
//   - Every wait has a limit.
package fuzz
