// Package data is the data cores of FlexiNS: loops of Arm cores that take
// requests from pipes, run the transports, and have the NIC of the contract
// gather, receive, copy and invalidate.
//
// A [Card] has the data cores of one card. The control core opens contexts, completion
// queues and queue pairs on them; each queue pair belongs to one core. A core has
//
//   - a receive queue whose frames are split: headers to header buffers, payload to buffers of whole lines;
//   - a transmit queue for each Ethernet port, whose frames are a header slot in Arm memory and payload where it lies
//     in the host (FN 3.2: header-only transmission), or in a ring in Arm memory into which it was copied (staged);
//   - a transmit queue for copies and invalidations (FN 3.3), by which completions reach the host, too;
//   - one pipe of send elements and one of receive entries for each context, and one of completions for each
//     completion queue that its queue pairs use.
//
// Its loops are polled in turn and cost nothing while they sleep: completion rings,
// pipes, work (what may leave, doorbells), timers.
//
// # A received packet
//
// The NIC wrote headers and payload into the Arm's last-level cache. The core reads the
// headers, and the transport says what becomes of the payload. One whose lines are whole
// goes to the host by one entry that copies and invalidates; else copies are posted, and
// the invalidation when their end was seen, as entries of a queue may overlap in time
// [D8]. The buffer is posted again when its invalidation has ended.
//
// # Order
//
// Copies of a core end in the order in which they were asked for, and what the NIC
// writes to the host leaves in order. So a completion, which is copied when the copies
// before it have ended, is never seen before the bytes that it tells of. Atomics read
// and write host memory by copies, because a load of the core could pass what the NIC
// wrote before.
//
// # Congestion control
//
// Each queue pair asks a pacer ([CongestionSpec], stack/cc) before a packet leaves. Its timers are the core's: a core
// holds those of its queue pairs, since a rate is of use only where packets leave; what has to happen while nothing is
// sent is caught up with later. Marks are read from the IP header in front of the packet that the NIC split off.
// Receivers send a CNP (DCQCN), or set BECN in the next acknowledgement (DCTCP).
//
// Sprayed queue pairs (Spec.Spray) use the transmit queues of all ports in turn; the rules by dest_qp bring each
// packet to its core whatever port and UDP source port it has.
//
// # Low-latency queue pairs
//
// FN 3.4 has a queue pair for small messages whose payload does not stay on the card: it comes inline in the send
// element, so that nothing is fetched from the host, and the receiving NIC writes it to the application's buffer and
// the headers to Arm memory. Where the paper says no more, this was decided:
//
//   - The path passes the cores' memory, not the cores: elements come by pipes as others do, and a core builds the
//     headers, runs the transport, acknowledges and has lost packets sent again. The host drives no queue of the NIC.
//   - Headers and payload of up to 176 B stand in the work entry; longer ones in a header slot, up to an MTU or what
//     fits into a pipe. A message is one packet.
//   - Each such queue pair takes a receive queue of the NIC, whose descriptors are the application's receive requests.
//     A rule before the cores' steers SEND_ONLY and SEND_ONLY_WITH_IMM of its peer there. Acknowledgements and all
//     else go to its core as ever.
//   - The rule draws on a credit account with a credit for each descriptor. A SEND that finds none goes to the core,
//     which answers that the receiver is not ready. The card of the paper has no such accounts: it would drop the
//     packet.
//   - Frames with a wrong ICRC are dropped by the NIC (RX_CTRL.drop_bad_icrc) while there are such queue pairs, as the
//     core would look at them too late. One longer than the receiver's messages is dropped, too [R8]: its sender runs
//     out of retries.
//   - A packet that came twice or too early has been written to a buffer. Its descriptor is posted again, behind the
//     others, or with selective repeat waits for its turn. So completions come once for each message and in order, and
//     name the buffer that has it, but receive requests end in the order in which buffers were filled. An application
//     that polls its buffers sees such packets and has to tell them apart by what they hold.
//   - In ERR the NIC's queue is off before requests are flushed. Deregistering a region with a buffer of such a queue
//     pair brings it to ERR (EventQPFatal), since the NIC has no key to look at when it writes.
//
// There is none for UC, UD, raw packets, Solar and shared receive queues, and none for an offload engine.
//
// It is not the control plane: it allocates no numbers, and believes what it is told
// about queue pairs. It knows no board, no model of a NIC and no host software.
//
// Invariants:
//   - What a core cannot make sense of (an element that no library writes, a failed queue) ends the core with an error
//     that names core and queue; nothing panics.
//   - Memory is allocated when a core is opened and when objects are created; in steady state nothing allocates.
//   - A buffer is never with the NIC and in use here at the same time.
//
// "FN" is FlexiNS; [D8] and its like are clauses of docs/nic.md.
package data
