// Package cells plays the cells of verilator/rtl/cells alone: FIFOs, skid buffer, arbiter, memory, clock gate. Each is
// driven cycle by cycle, and its outputs are compared in every cycle with a reference that is written from the
// promises in the cell's header.
//
// A cell has a manifest and a wrapper in verilator/duts/cells; all wrappers share a player, which turns a request into
// steps of one cycle each. A new cell is a manifest, a wrapper and an entry in All.
//
// It has no cell that blocks cover: the CRC engines are compared by blocks icrc, crc32c and offload.
//
// Invariants:
//   - A reference knows cycles: an output that is right a cycle late is a mismatch.
//   - No reference is made from the RTL.
package cells
