// Package kit is the board under test and what a check does with it: registers and doorbells, rings and work entries,
// frames and deliveries, failing reads, counters, and what must come out.
//
// It has no checks of its own, and imports nothing of the rooms that do.
//
// Invariants:
//   - What is expected is computed here from docs/nic.md, never by the functions of the Go NIC.
//   - Every wait has a limit, and fails the test with what it waited for.
package kit
