// Package rings tracks a ring of descriptors or work entries in host memory: how far its entries
// have been read, which reads of it failed, and its recent doorbells. A doorbell takes effect
// within VisibleCycles of being accepted [G4], so the producer index is only known within bounds.
//
// It does not see crossings and reports nothing: the caller says what happened in which cycle, and
// asks about indices and cycles. Indices run modulo 2^16 [Q2]. Nothing allocates in steady state.
//
// References in brackets are rules of docs/nic.md.
package rings
