// Package memory records what the referee needs to know of the memory behind the boundary: ranges
// and their owners (Map), which bytes of a piece were touched (Set), and bytes that the device has
// read (Store).
//
// It knows no rule of the contract and judges nothing. The caller defines what the owner of a range
// means.
//
// Invariants:
//   - Nothing allocates in steady state.
//   - A Map returns the ranges of a page in the order in which they were added.
//   - The intervals of a Set neither overlap nor touch.
package memory
