// Package pcie has the checks of the device as a requester [P]: tags and time-outs, attributes, completions of every
// shape and status, settings that change at run time, back-pressure on the TLP streams.
//
// The checks of requests to the device are in package registers.
//
// Invariants:
//   - Checks require only what docs/nic.md fixes; where it leaves the order open, the referee judges.
package pcie
