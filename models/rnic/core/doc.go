// Package core is the function of models/rnic: a hardware RDMA transport as
// state machines without time. RC, UC, UD and raw queue pairs, requester and
// responder; SEND, WRITE, READ and atomics; memory regions; RoCEv2 packets.
//
// It moves no bytes and knows no clock. Whoever runs it (the timed component, or
// a test with plain memory) hands it decoded packets, one QP at a time in order
// of arrival, and carries out what comes back:
//
//   - QP.Next plans the next packet to send: its headers, and where its payload
//     lies. Bytes are read when a packet is sent, and again when it is repeated.
//   - QP.Respond takes a request, QP.Answer a response. Both fill Effects: bytes
//     to be placed in memory, completions to be told after that (in the order in
//     which they leave: between memories of two endpoints nothing keeps it), and
//     at most one Reply. A Reply that reads memory names the place; its packets
//     are planned by QP.ReadResponse.
//   - Timeout, Resume and Flush say that time has passed or a queue ends.
//
// Replies of a queue pair must leave in the order in which they were asked for:
// a later acknowledgement implies that READs before it were answered.
//
// Not here: SRQ, XRC, RD, memory windows, SEND with invalidate as requester (the
// responder takes such packets as SENDs and ends the region), automatic path
// migration, congestion control (CNPs are dropped), management datagrams.
// End-to-end credits are not given (AETH says so), and not heeded.
//
// Invariants: packet input never panics, whatever the bytes; nothing on the path
// of a packet allocates once queues have grown; a request is carried out at most
// once, in order of its PSN; what a retransmission repeats is what was not
// acknowledged.
//
// References: "IBTA" is the InfiniBand Architecture Specification, volume 1,
// release 1.4; "A17" its annex on RoCEv2.
package core
