// Package run plays scenario files: a board, the devices in its NIC slots, the stack of each server, a workload of
// package apps, faults, and the expected results.
//
// A file with a sweep expands to many cases. Each case is played on its own engine, with a referee at every NIC of
// the contract. Faults that applications report, expectations that are not met and mismatches of the referees are
// each a finding of the case.
//
// Stacks are known by an interface (Stack) and a kind. The runner assembles what they need from the board; it knows
// neither packets nor registers.
//
// Invariants:
//   - A case gives the same result (Played.Digest) whichever NIC of the contract is in the slots, and the same events
//     with the same NIC.
//   - Every wait has a limit in simulated time, and an error that says what was waited for.
//   - A run that checked nothing fails: a case in which nothing arrived, or in which no referee checked a NIC of the
//     contract although there is one, does not pass.
package run
