// Package host assembles a server from plain specs: sockets with their cores,
// caches and memory, and an IIO buffer in front of each device. The Arm side of a
// card is such a server with one socket.
//
//	core: cpu ─ tlb ─ private ─ throttle ─┐
//	                                      ├─ sockets ─ armcache ─ dram ─ bytes
//	device: root ─ iio ───────────────────┤
//	copy engine: dsa ─────────────────────┘
//
// The cost of an access depends on the initiator's socket: the other socket's
// memory is behind a link (package sockets). Every part is a separate component
// that does not know the others; this package only connects them.
//
// It holds no bytes: those are in the caller's mem.Space. It runs no engine, and
// does not depend on PCIe.
//
// Invariants:
//   - Cores are made at the first request: an unused core costs nothing.
//   - All cores share one coherence domain, over all sockets.
//   - Validate returns every error of a spec, each with the path of its field.
package host
