// Package rings knows what becomes of a ring of descriptors or work entries in
// host memory: how far its entries have been read, which reads of it failed, and
// which doorbells it was given lately. A doorbell takes effect within
// VisibleCycles of being accepted [G4], so that what is posted is known within
// bounds only.
//
// It does not see crossings and reports nothing: it is given what happened in
// which cycle, and is asked about indices and cycles. Indices run modulo 2^16
// [Q2]. In steady state nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package rings
