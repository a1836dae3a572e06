// Package pause has the checks of flow control [F]: pause frames honoured and sent, levels of the receive buffer, and
// what a stop does to queues that wait.
//
// Invariants:
//   - Times are demanded in cycles, with the tolerance that docs/nic.md gives.
package pause
