// Package registers has the checks of the register space [G], doorbells [Q2], table commands and their values, the pin
// busy [B8] and the interrupts of queues [M].
//
// Requests that the device makes itself are in pcie.
//
// Invariants:
//   - Nothing here depends on what frames carry.
package registers
