// Package core is docs/nic.md as functions and state machines without time: the executable
// specification.
//
// Parse, Config.Classify, PlanRx, DecodeWqe and FinishTx turn bytes into bytes; Regs is the
// register space, the tables, the queues and the counters as one state machine; Reader is the read
// side of the PCIe interface; Moderator, PauseStops and PauseSender decide what is due. Where the
// contract counts cycles, the cycle is an argument. The timed component (package nic) calls this
// package with the traffic of its ports, the referee with the crossings of a device.
//
// No two files call each other, so they can be read from the callers downwards. Block files
// carry the names of the RTL's blocks. References in brackets, as [R5], are rules of docs/nic.md.
// Requests for a part that the build lacks are refused [N1, N2]. The copy engine's function is
// models/nic/dma.
//
// Invariants:
//   - Nothing on the path of a frame, a work entry or a TLP allocates.
//   - A Config is a value: rule sets are never changed in place, so a copy never changes.
//   - Neither Akita nor simcore is imported, directly or indirectly.
package core
