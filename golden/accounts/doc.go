// Package accounts tracks the states that credit accounts may be in (docs/nic.md, section 10).
// account_seq orders the frames that an account let pass [A4]. Account follows them in that order
// and keeps every possible state, since a write may take effect at any time within its window [A5].
//
// An account that the table sets anew begins again at account_seq 0, while frames that it let pass
// before may still be on their way to their ring.
//
// The caller reports writes and frames, and asks which states and readings are possible. The
// package holds no frames, knows no queues and records no mismatches; that is the caller's part.
//
// Invariants:
//   - There is at least one state at all times. A frame that no state allows changes nothing.
//   - Nothing allocates in steady state.
//
// References in brackets are rules of docs/nic.md.
package accounts
