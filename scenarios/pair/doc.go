// Package pair plays traffic between two servers whose cards are joined by Ethernet cables, on one engine or with
// each server simulated by its own process (docs/split.md).
//
// The two processes simulate the same quantum at the same time and then exchange what left in it. A quantum is no
// longer than a cable's latency, so nothing that leaves in a quantum arrives in the same one: the results are those
// of one engine, digest by digest.
//
// It is for racks of two servers, one card each, back to back, with the Go NIC. RTL runs in a process of its own
// anyway.
//
// Invariants:
//   - The end of traffic is decided at the end of a quantum, from the states of both servers at that time,
//     identically in both processes.
//   - Every wait for the peer has a limit. Errors name the peer and the quantum.
//   - The exchange allocates nothing in steady state.
package pair
