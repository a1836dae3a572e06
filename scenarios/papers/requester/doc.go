// Package requester is a scripted NIC for a board's slot: it moves bytes between a network and the memories of a card,
// or from one memory to another, and does nothing else. Experiments about links and memories use it, since they need no
// transport.
//
// A Transfer has a source, a destination and a number of bytes:
//   - network to memory (an incoming WRITE): packets arrive at the network's rate; each is split into memory writes of
//     the destination's MPS.
//   - memory to network (an answered READ): reads of MRRS bytes; packets leave at the network's rate as completions
//     bring their bytes.
//   - memory to memory (the card's own copy, path 3 of the off-path study): reads of the source, and memory writes of a
//     read's bytes once all of them have arrived.
//
// The bytes are real. Transfers overlap, but each step handles them in the order in which they started. Spec bounds
// them by tags, and by a buffer for all bytes that were requested and have not left. Spec.Copies decides whose writes
// go first.
//
// It is not an RDMA NIC: it has no queue pairs, packet sequence, contexts, doorbells or translation. An experiment that
// needs those puts models/rnic into the same slot. Experiments use this package through Port alone.
//
// Invariants:
//   - No TLP is longer than its destination's MPS or MRRS, or crosses 4 KB.
//   - Bytes requested and not passed on never exceed the buffer.
//   - A transfer ends once: when its last byte has left for its destination.
package requester
