// Package counters bounds the values of the device's counters [G5]: how often each was certainly
// stepped, how often it may have been, and the least that a read accepted now must show. Drops is a
// set of the counters that an undelivered frame may step.
//
// The referee reports events to it; it records no mismatches itself.
//
// Invariants:
//   - A counter's upper bound never falls below its lower bound, provided that every Confirm,
//     Withdraw and Unsure concerns a step added before.
//   - Nothing allocates in steady state.
//
// References in brackets are rules of docs/nic.md.
package counters
