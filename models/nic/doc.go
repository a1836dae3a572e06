// Package nic is the SmartNIC's network interface as a timed Akita component: the reference that
// takes a NIC's slot.
//
// Comp moves frames and TLPs at the rates of the RTL, one beat a cycle on each stream and
// direction, and calls package core for their meaning. This package adds time and order: pipelines,
// the queues between them, round robin, prefetch, and limits on what is in flight. Files can be read from
// comp.go downwards: no file calls one above it.
//
// It holds no rules of docs/nic.md about contents: those are in core. Switch, links and memory are other
// components.
//
// Invariants:
//   - Nothing on the path of a frame, a work entry or a TLP allocates.
//   - Two components with the same Spec and the same inputs at the same times behave alike, cycle
//     by cycle.
package nic
