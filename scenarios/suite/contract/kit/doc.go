// Package kit is the board under test and the operations of checks on it: registers and doorbells,
// rings and work entries, frames and deliveries, failing reads, counters, and expected results.
//
// It contains no checks, and imports none of the packages that do.
//
// Invariants:
//   - Expected results are computed here from docs/nic.md, never by the functions of the Go NIC.
//   - Every wait has a limit, and fails the test with a text that names the event it waited for.
package kit
