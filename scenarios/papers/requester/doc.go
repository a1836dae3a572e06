// Package requester is a scripted NIC for a board's slot: it moves bytes between
// a network and the memories of a card, or from one memory to another, and does
// nothing else. Experiments about links and memories use it where a NIC's
// transport would only be in the way.
//
// A Transfer says from where, to where and how many bytes:
//   - network to memory (a WRITE that comes in): packets arrive at the network's
//     rate, each is cut into memory writes of the destination's MPS.
//   - memory to network (a READ that is answered): reads of MRRS bytes; packets
//     leave at the network's rate as completions bring their bytes.
//   - memory to memory (the card's own copy, path 3 of the off-path study): reads
//     of the source, and memory writes of each read's bytes once all of them came.
//
// The bytes are real. Transfers overlap, but each of their steps takes them in the
// order in which they began. What bounds them is in Spec: tags, and a buffer that holds every byte that
// was asked for and has not left. Spec.Copies says whose writes go first.
//
// It is not an RDMA NIC: no queue pairs, packet sequence, contexts, doorbells or
// translation. An experiment that needs those takes models/rnic into the same
// slot; Port below is all that experiments use of this package.
//
// Invariants:
//   - No TLP is longer than its destination's MPS or MRRS, or crosses 4 KB.
//   - Bytes asked for and not passed on never exceed the buffer.
//   - A transfer ends once: when its last byte has left for its destination.
package requester
