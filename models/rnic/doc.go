// Package rnic is a NIC with a hardware RDMA transport: the device of the off-path study and of
// other papers' RDMA experiments. It has the boundary of the contract NIC (Ethernet ports and one
// TLP port) and fits the same slots, but has a programming interface of its own, package rnicspec.
// It is a model for comparison: no referee judges it.
//
// Package core, which knows no time, decides what happens to packets. This package adds posting,
// DMA, the caches, and time.
//
// # How a request leaves
//
// A work entry is pushed by MMIO, or read from the ring after a doorbell. Queue pairs with
// something to send take turns, one packet each (transmit.go). The payload is read by DMA in pieces
// of MRRS. A message's first packet also takes a context of the endpoint that holds the send ring,
// for Contexts.Hold, and Latency.Requester. Packets of a queue pair leave in order, at the rate of
// the Ethernet link, with the bytes of the framing counted. Packets to the NIC's own address come
// back inside (loopback) when the receive buffer is less than half full: frames from the network
// have priority, since they cannot be held back for long.
//
// # How a request is received
//
// It takes PacketTime of the receiving pipeline, then the latency of its operation, which is
// pipelined. Its outcome is then decided at once, in the order of its queue pair (receive.go). It
// takes effect once it has a context of the endpoint whose memory it addresses. Contexts of an
// endpoint are given in the order of the requests for them; a packet requests one at once, unless
// it would overtake an earlier packet of its queue pair (order.go). A context is held for
// Contexts.Hold, and then
//   - by a WRITE or SEND until its TLPs were accepted at their destination (the receiver of a TLP
//     returns it, which notifies msg.TLP.Sender; for the Arm of a card with its DRAM behind the
//     root this is the memory controller) and the notice has come back, which takes the latency of
//     the same links and waits for nothing else, like returned credits. The acknowledgement leaves
//     then;
//   - by a READ until its completions have arrived. Its data leaves as it comes;
//   - by a request of zero bytes no longer.
//
// An endpoint has at most Contexts.Endpoint contexts, Contexts.Reserve of which no other endpoint
// can take (contexts.go).
//
// # The packet table
//
// READ data occupies one entry for each PCIe packet of the endpoint's MPS, from its request until
// it has left (reply.go). A READ that fits takes its entries at once and overlaps with others. A
// longer one waits until the table is empty, fills it, drains it without refilling, and so on: its
// rate is that of filling and draining one after the other. This rule is a hypothesis about why
// large READs collapse; its only parameter is the table's size.
//
// # Caches
//
// Queue pairs and pages of regions are looked up before a packet proceeds. A miss costs a DMA read
// of 64 B from the context memory that software provides; its contents are ignored. A page has the
// size given for its region.
//
// # Congestion control
//
// RC queue pairs can have a controller that limits their rate or their window, and a notifier that decides when CNPs
// answer marked packets (congestion.go). The algorithms are the caller's (SetCongestion). A rate limits packets when
// they are planned, and packets with data of READs when they would leave. CNPs and acknowledgements are not limited. A
// CNP takes effect when it has arrived.
//
// Software can make the NIC treat packets as if a switch had marked them (register RegMark), for a host that is itself
// congested: while the register is 1, each ECN-capable packet for an RC queue pair counts as marked when it arrives,
// with the effects of any mark. Packets that arrived earlier, though they may wait in the receive pipeline, do not
// change.
//
// # Credit accounts
//
// An RC queue pair can have an account, as the contract NIC's flows do (docs/nic.md section 10): each packet of a SEND
// or WRITE takes a credit, or goes to memory of the card and is copied later, at software's request (accounts.go). The
// differences follow from the transport. A slow packet has been acknowledged, and its place is known, so the NIC copies
// it there by itself, in order, and no ring of slow packets reaches software. Packets behind a slow one that has not
// been copied are slow, too. Receive entries tell how many credits were drawn up to them.
//
// # Not modelled
//
// PFC (a full receive buffer leaves frames in the port, as with link-level credits), completion
// timeouts, end-to-end credits, more than one piece of memory in a work entry, VLAN tags on
// transmit, MSI-X (software polls). A failed DMA read makes its queue pair fail. If it was for a
// reply to a READ, no NAK is sent. If it was for an atomic, requests behind the atomic whose outcome
// was decided still take effect. If it was for a shared receive queue, queue pairs that need its
// entries fail.
//
// # Invariants
//
//   - TLPs leave in the order in which they were made: no read passes an earlier write.
//   - The requests of a queue pair take effect in order, including their completions. A request is
//     barred, and holds no context, while an earlier one waits for a context of the other endpoint,
//     or while an earlier atomic has not written; atomics are carried out one after the other.
//     Requests behind a READ may change the bytes that it reads: a peer that must not see that sets
//     a fence.
//   - "In order" means the order in which TLPs leave: behind a switch, they may reach the memories
//     of two endpoints in another order, as with any NIC, since PCIe does not order writes to
//     different completers. A completion in a queue in the Arm's memory can be seen before its
//     payload in the host's.
//   - When a queue pair fails, it first completes what was decided or planned before: requests that
//     have not taken effect, and packets without acknowledgements that have not left. Then come the
//     error and the flushed entries.
//   - Results do not depend on the order of events of one time: each queue pair keeps its order.
//   - Nothing is scheduled while there is nothing to do, except the timers of unacknowledged
//     requests, which expire.
//   - Nothing is allocated for a packet once the pools have reached their peak.
//   - The cost of a packet does not depend on the number of queue pairs.
//   - Same input, same events.
package rnic
