// Package rnic is a NIC with a hardware RDMA transport: the device of the
// off-path study and of other papers' RDMA lines. It has the boundary of the
// contract NIC (Ethernet ports and one TLP port) and stands in the same slots,
// but a programming interface of its own, package rnicspec. It is a model to
// compare with: no referee judges it.
//
// What it does with packets is package core, which knows no time. This package
// adds posting, DMA, the caches, and time.
//
// # A request that leaves
//
// A work entry is pushed by MMIO, or read from the ring after a doorbell. Queue
// pairs with something to send take turns, a packet each (transmit.go). The
// payload is read by DMA in pieces of MRRS; a message's first packet also takes
// a context of the endpoint that has the send ring, for Contexts.Hold, and
// Latency.Requester. Packets of a queue pair leave in order, at the line's rate
// in the framing's bytes; those to the NIC's own address come back inside
// (loopback), when the receive buffer is less than half full: frames from the
// network go first, since they cannot be held back for long.
//
// # A request that comes
//
// It takes PacketTime of the receiving pipeline, then the latency of its
// operation, which is pipelined. What it does is then decided at once, in the
// order of its queue pair (receive.go). When it takes effect is up to a context
// of the endpoint whose memory it addresses. Those of an endpoint are given in
// the order in which they were asked for: by a request at once, unless it would
// overtake an earlier one of its queue pair (order.go). A context is held for
// Contexts.Hold, and then
//   - by a WRITE or SEND until its TLPs were accepted at their destination
//     (msg.TLP.Sender tells: whoever the TLP was for has given it back. For the
//     Arm of a card with its DRAM behind the root that is the memory controller)
//     and a notice of it has come back, which takes the latency of the same links
//     and waits for nothing else, as returned credits do. The acknowledgement
//     leaves then;
//   - by a READ until its completions are in. Its data leaves as it comes;
//   - by a request of no bytes no longer.
//
// An endpoint has Contexts.Endpoint of them at most, Contexts.Reserve of which
// nobody else can take (contexts.go).
//
// # The packet table
//
// READ data occupies an entry for each PCIe packet of the endpoint's MPS from
// its request until it has left (reply.go). A READ that fits takes its entries
// at once and overlaps with others. A longer one waits until the table is empty,
// fills it, drains it without filling, and so on: its rate is that of filling
// and draining one after the other. This rule is a hypothesis about why large
// READs collapse; it has no number of its own but the table's size.
//
// # Caches
//
// Queue pairs and pages of regions are looked up before a packet goes on; what a
// cache lacks is a DMA read of 64 B from the memory that software gave for
// contexts, whose bytes have no say. A page's size is its region's.
//
// # Not modelled
//
// Congestion control, PFC (a full receive buffer leaves frames in the port, as
// link-level credits have it), completion timeouts, end-to-end credits, more
// than one piece of memory in a work entry, shared receive queues, VLAN tags on
// transmit, MSI-X: software polls. A DMA read that fails ends its queue pair; of
// an answer, without a NAK for a READ, and what was decided behind an atomic has
// its effects all the same.
//
// # Invariants
//
//   - TLPs leave in one order: no read passes a write before it.
//   - The requests of a queue pair have their effects, completions among them, in
//     order. One is barred, and holds no context, while an earlier one waits for a
//     context of the other endpoint, or while an earlier atomic has not written;
//     atomics follow each other. What a READ reads may have changed by what comes
//     behind it: a peer that minds that sets a fence.
//   - That order is the one in which TLPs leave, no more: memory of two endpoints
//     behind a switch may be reached in another, as by any NIC there, since PCIe
//     does not order writes to different completers. A completion whose queue is
//     in the Arm's memory can be seen before its payload in the host's.
//   - A queue pair that fails completes first what was decided or planned before:
//     requests that have had no effects, packets that nobody acknowledges and that
//     have not left. Then come the error, and what is flushed.
//   - Events of one time may come in any order: each queue pair keeps its own.
//   - Nothing is scheduled while there is nothing to do, but for the timers of
//     unacknowledged requests, which end by themselves.
//   - Nothing is allocated for a packet, once as many were under way as will be.
//   - The cost of a packet does not depend on how many queue pairs there are.
//   - Same input, same events.
package rnic
