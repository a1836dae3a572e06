// Package board is the assembly: cards and servers from plain specs, on an
// engine that the caller owns.
//
// A Card is a slot for a NIC, its PCIe link, and the endpoint behind that link:
// a root complex over Arm and host memory, or a switch (SwitchSpec) with a root
// for each behind a link of its own. Behind each root of a switched card stands
// what its MemorySpec has: root, last-level cache, DRAM, bytes; or a machine of
// models/server/host with its cores, whose ways to the other side are Card.ArmOutbound
// and Card.HostMMIO. Software without cores reads and writes Card.Memory, which
// goes through the caches. A Server is one or more cards, which share its host
// memory if the spec says so (SharedSpec). A factory fills each slot; what stands
// in it the board does not know. Ethernet ports stay open: players and other NICs
// are plugged into them by Cable. A Rack is servers whose ports are open, back to
// back, or on an Ethernet switch, by cables that may lose frames.
//
// It runs nothing, and knows neither RTL nor addresses nor command lines.
//
// Invariants:
//   - The NIC in the slot is the only difference between boards of one spec.
//   - Behind a switch, what the NIC writes keeps its order per endpoint only:
//     software that sees a completion entry in Arm memory must not take it that
//     payload in host memory is there.
//   - What software sees is what a core would: a line that was invalidated by
//     mistake has the stale bytes of DRAM, and nobody sees past that.
//   - Everything on one engine shares its Pools.
//   - Validate returns every error of a spec, each with the path of its field (models/sim/field).
package board
