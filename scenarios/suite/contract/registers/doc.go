// Package registers has the checks of the register space [G], doorbells [Q2], table commands and their values, the busy
// pin [B8] and the interrupts of queues [M].
//
// Requests that the device makes itself are in pcie.
//
// Invariants:
//   - No check depends on the contents of frames.
package registers
