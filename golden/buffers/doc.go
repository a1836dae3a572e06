// Package buffers knows what was written to the buffers of receive descriptors:
// which descriptors the device has, which bytes of theirs have values, and, where
// buffers overlap, which writes no descriptor has accounted for yet.
//
// It is told which descriptors were read (Enter) and are done (Forget), and what
// was written (Slot.Store, or Keep for a write that several buffers may be meant
// by). What a frame that is delivered lacks is taken from the latter
// (ClaimShared), and Unclaimed says what no descriptor in use can still take.
//
// It does not see crossings, knows no frames, and reports nothing. In steady state
// it allocates nothing.
//
// References in brackets are rules of docs/nic.md.
package buffers
