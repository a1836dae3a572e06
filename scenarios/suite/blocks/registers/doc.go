// Package registers has the pairs of RTL block and reference for the register space: registers, tables, counters,
// reset, messages and pauses.
//
// Invariants:
//   - Every reference is the state machine of models/nic/core with the block's name.
package registers
