// Package contract is one suite of checks for every implementation of docs/nic.md. It uses a NIC through its boundary
// only, so that the Go model, RTL behind the bridge and a device in another process run the same checks.
//
// It exercises what a replay of traffic does not: every register and shape of access, every status of table commands
// and work entries, every cause of a drop, failing reads of every kind, limits of sizes, addresses, rings and time.
// Each check compares results with those that it expects, and the referee watches every run.
//
// The checks are in one package per part of the contract, and share kit. This package combines them into one suite and
// runs it.
//
// It does not measure, and it is no traffic generator.
//
// Invariants:
//   - A check names the rules of docs/nic.md that it tests; a test lists the rules that no check names.
//   - A check's outcome depends on nothing but the device.
//   - Every wait has a limit.
package contract
