// Package cells plays the cells of verilator/rtl/cells alone: FIFOs, skid buffer, arbiter, memory, clock gate. Each is
// driven cycle by cycle, and its outputs are compared in every cycle with a reference written from the comment at the
// head of the cell's file.
//
// A cell has a manifest and a wrapper in verilator/duts/cells; all wrappers share a player, which turns a request into
// steps of one cycle each. A new cell is a manifest, a wrapper and an entry in All.
//
// Cells that blocks cover are not played here: the CRC engines are part of blocks icrc, crc32c and offload.
//
// Invariants:
//   - A reference is exact to the cycle: the right output a cycle late is a mismatch.
//   - No reference is derived from the RTL.
package cells
