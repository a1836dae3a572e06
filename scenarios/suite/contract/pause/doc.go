// Package pause has the checks of flow control [F]: pause frames received and sent, levels of the receive buffer, and
// the effect of a stop on queues that wait.
//
// Invariants:
//   - Times are checked in cycles, with the tolerance that docs/nic.md gives.
package pause
