// Package host is the assembly of a server: sockets with their cores, caches,
// memory and the buffer before devices, put together from plain specs. The Arm
// side of a card is the same with one socket.
//
//	core: cpu ─ tlb ─ private ─ throttle ─┐
//	                                      ├─ sockets ─ armcache ─ dram ─ bytes
//	device: root ─ iio ───────────────────┘
//
// What a core or device sees depends on the socket that it sits on: lines of the
// other's memory are a crossing away (package sockets). Every part is a component
// of its own that knows nothing of the others; this package only connects them.
//
// It holds no bytes: those are a mem.Space's, which the caller has. Nor does it
// run anything, or know PCIe.
//
// Invariants:
//   - Cores are made when they are first asked for: a core that nobody uses costs
//     nothing.
//   - All cores share one coherence domain, over all sockets.
//   - Validate returns every error of a spec, each with the path of its field.
package host
