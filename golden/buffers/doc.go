// Package buffers tracks what was written to the buffers of receive descriptors: which descriptors
// the device has, which of their bytes have values, and, where buffers overlap, which writes no
// descriptor has accounted for yet.
//
// The caller reports which descriptors were read (Enter) and are done (Forget), and what was
// written: Slot.Store, or Keep for a write that may be meant for several buffers. If a delivered
// frame lacks bytes, ClaimShared takes them from the writes given to Keep. Unclaimed lists the writes
// that no descriptor in use can still claim.
//
// It does not see crossings, knows no frames, and reports nothing. Nothing allocates in steady
// state.
//
// References in brackets are rules of docs/nic.md.
package buffers
