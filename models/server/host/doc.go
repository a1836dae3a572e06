// Package host is the assembly of a server: sockets with their cores, caches,
// memory and the buffer before devices, put together from plain specs. The Arm
// side of a card is the same with one socket.
//
//	core: cpu ─ tlb ─ private ─ throttle ─┐
//	                                      ├─ sockets ─ armcache ─ dram ─ bytes
//	device: root ─ iio ───────────────────┘
//
// The view of a core or device depends on its socket: lines of the other socket's
// memory are a link crossing away (package sockets). Every part is a component of
// its own that knows nothing of the others; this package only connects them.
//
// It holds no bytes: those are in the caller's mem.Space. Nor does it run
// anything, or know PCIe.
//
// Invariants:
//   - Cores are made at the first request: an unused core costs nothing.
//   - All cores share one coherence domain, over all sockets.
//   - Validate returns every error of a spec, each with the path of its field.
package host
