// Package pcie has the checks of the device as a requester [P]: tags and time-outs, attributes, completions of every
// shape and status, settings that change at run time, back-pressure on the TLP streams.
//
// Requests to the device are in registers.
//
// Invariants:
//   - What may happen in any order, the referee judges; checks demand only what docs/nic.md fixes.
package pcie
