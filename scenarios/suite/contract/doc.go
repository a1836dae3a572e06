// Package contract is one suite of tests for whatever claims to be the NIC of docs/nic.md: it speaks to a NIC at its
// boundary only, so the Go model, RTL behind the bridge and a device in another process pass the same tests.
//
// It exercises what a replay of traffic does not: every register and shape of access, every status of table commands
// and work entries, every cause of a drop, failing reads of every kind, limits of sizes, addresses, rings and time.
// Two judges look on: each test says what must come out, and the referee watches every run.
//
// The checks are in rooms, by part of the contract; kit is what they share. This package puts them together into one
// suite and runs it.
//
// It does not measure, and it is no traffic generator.
//
// Invariants:
//   - A check names the rules of docs/nic.md that it holds; a test lists the rules that no check names.
//   - Checks depend on nothing but the device: the same device, the same outcome.
//   - Every wait has a limit.
package contract
