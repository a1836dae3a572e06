// Package run plays scenario files: a board, the devices in its NIC slots, the stack of each server, a workload of
// package apps, faults, and the expected results.
//
// A file with a sweep expands to many cases. Each case is played on its own engine, with a referee at every NIC that
// follows docs/nic.md (the contract). Each fault that an application reports, each expectation that is not met and each
// mismatch of a referee is a finding of the case.
//
// The package knows of a stack only its kind and the interface Stack, and gives it what it needs of the board. It knows
// neither packets nor registers.
//
// Invariants:
//   - A case gives the same result (Played.Digest) whichever NIC of the contract is in the slots, and the same events
//     with the same NIC.
//   - Every wait has a limit in simulated time, and an error that says what was waited for.
//   - A run that checked nothing fails: a case in which nothing arrived, or in which no referee checked a NIC of the
//     contract although there is one, does not pass.
package run
