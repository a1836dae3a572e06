// Package board is the assembly: cards and servers from plain specs, on an
// engine that the caller owns.
//
// A Card is a slot for a NIC, its PCIe link, and the endpoint behind that link:
// a root complex over Arm and host memory, or a switch (SwitchSpec) with a root
// for each behind a link of its own. Behind each root of a switched card is the
// memory of its MemorySpec: last-level cache, DRAM, bytes; or a machine of
// models/server/host with its cores, whose paths to the other side are
// Card.ArmOutbound and Card.HostMMIO. Software without cores reads and writes
// Card.Memory, which goes through the caches. A Server is one or more cards,
// which share its host memory if the spec says so (SharedSpec). A factory fills
// each slot; the board does not know with which device. Ethernet ports stay open:
// Cable plugs players and other NICs into them. A Rack is servers whose ports are
// open, back to back, or on an Ethernet switch, by cables that may lose frames.
//
// It runs nothing, and knows neither RTL nor device addresses nor command lines.
//
// Invariants:
//   - The NIC in the slot is the only difference between boards of one spec.
//   - Behind a switch, the NIC's writes keep their order per endpoint only:
//     software that sees a completion entry in Arm memory must not assume that
//     the payload in host memory has arrived.
//   - Software sees what a core would see: a line invalidated by mistake has the
//     stale bytes of DRAM, and no interface shows the lost ones.
//   - Everything on one engine shares its Pools.
//   - Validate returns every error of a spec, each with the path of its field (models/sim/field).
package board
