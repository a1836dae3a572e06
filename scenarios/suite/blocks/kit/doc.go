// Package kit is what pairs of blocks are made of: layouts of their packets, records made from Go structures, table
// commands, frames to draw from, and writes put together from TLPs.
//
// It has no pair of its own, and plays none.
//
// Invariants:
//   - What is drawn is a function of the source of random numbers alone.
//   - A layout names every byte of its packets.
package kit
