// Package pause judges the pause frames that a port sends [F6], and computes when those that it receives stop it
// [F3, F4].
//
// The bytes held in the receive buffer are known within bounds only: at most the frames that came in and are not known
// to have left, and, in hindsight, at least those that were delivered later. The caller passes both bounds, and the
// frames that leave, to an Out, which reports pause frames that no level within the bounds allows.
//
// It keeps no frames and knows no queues: the caller, which knows them, reports a frame or fetch that a stop forbids.
//
// Invariants:
//   - In steady state nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package pause
