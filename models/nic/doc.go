// Package nic is the SmartNIC's network interface: what docs/nic.md says, as a
// function and as a timed Akita component.
//
// The function knows neither time nor Akita. Parse, Config.Classify, PlanRx,
// DecodeWqe and FinishTx turn bytes into bytes; Regs is the register space, the
// tables, the queues and the counters as one state machine; Reader is the read
// side of the PCIe interface, with the cycle as an argument. The referee calls
// the very same function with the facts that a device led with.
//
// Comp is the timed shell: it moves frames and TLPs at the rates of the RTL, a
// beat a cycle, and calls the function for everything that has a meaning.
//
// Block files carry the names of the RTL's blocks. References in brackets, as
// [R5], are rules of docs/nic.md.
//
// It is not a switch, a link or a memory. What belongs to a part that the build
// lacks is refused [N1, N2]. The copy engine's function is models/dma.
//
// Invariants:
//   - Nothing on the path of a frame, a work entry or a TLP allocates.
//   - A Config is a value: rule sets are never changed in place, so that a copy
//     stays what it was.
//   - Two components with the same Spec and the same inputs at the same times
//     behave alike, cycle by cycle.
package nic
