// Package stream times one packet on a stream of the boundary: the cycles of its first and last
// beat, credits and stalls.
//
// It neither holds nor sends the packet.
//
// Invariants:
//   - At most one packet is offered or crosses.
//   - A packet that is offered stays until it starts.
package stream
