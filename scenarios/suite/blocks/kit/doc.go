// Package kit has the components of the block pairs: layouts of packets, records made from Go structures, table
// commands, random frames, and writes reassembled from TLPs.
//
// It contains no pair, and plays none.
//
// Invariants:
//   - What is drawn is a function of the source of random numbers alone.
//   - A layout names every byte of its packets.
package kit
