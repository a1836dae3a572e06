// Package core is the function of models/rnic: a hardware RDMA transport as state machines without
// time. It has RC, UC, UD and raw queue pairs, requester and responder; SEND, WRITE, READ and
// atomics; memory regions; RoCEv2 packets.
//
// It moves no bytes and knows no clock. The caller (the timed component, or a test with plain
// memory) passes in decoded packets, one QP at a time in order of arrival, and carries out the
// results:
//
//   - QP.Next plans the next packet to send: its headers, and where its payload lies. The payload
//     is read when a packet is sent, and again when it is repeated.
//   - QP.Respond takes a request, QP.Answer a response. Both fill Effects: bytes to be placed in
//     memory, completions to be written after that (in the order in which they leave: nothing keeps
//     order between memories of two endpoints), and at most one Reply. A Reply that reads memory
//     names the place; QP.PlanReply plans its packets.
//   - Timeout, Resume and Fail report that time has passed or that a queue pair ends.
//
// Replies of a queue pair must leave in the order of their requests: a later acknowledgement
// implies that READs before it were answered.
//
// Not supported: XRC, RD, memory windows, SEND with invalidate as requester (the responder
// takes such packets as SENDs and ends the region), automatic path migration, management datagrams.
// End-to-end credits are not given (AETH says so), and not heeded. Congestion control only gets its
// signals here: marks, acknowledged packets, losses.
//
// Invariants:
//   - Packet input never panics, whatever the bytes.
//   - Nothing on the path of a packet allocates once queues have grown.
//   - A request is carried out at most once, in order of its PSN.
//   - A retransmission repeats exactly the unacknowledged part.
//
// References: "IBTA" is the InfiniBand Architecture Specification, volume 1, release 1.4; "A17" its
// annex on RoCEv2.
package core
