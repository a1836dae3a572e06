// Package pause judges the pause frames of a port [F6], and knows when those that
// came in stop it [F3, F4].
//
// What the receive buffer holds is known within bounds only: at most the frames
// that came in and are not known to have left, and, in hindsight, at least those
// that were delivered later. Out is told of both, and of what leaves; it reports
// what cannot be.
//
// It holds no frames and knows no queues: what a stop forbids, who knows the queues
// reports.
//
// Invariants:
//   - In steady state nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package pause
