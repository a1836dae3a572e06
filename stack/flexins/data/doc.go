// Package data implements the data cores of FlexiNS: loops of Arm cores that take requests from pipes, run the
// transports, and make the contract's NIC gather, receive, copy and invalidate.
//
// A [Card] has the data cores of one card. The control core opens contexts, completion queues and queue pairs on them;
// each queue pair belongs to one core. A core has
//
//   - a receive queue whose frames are split: headers to header buffers, payload to buffers of whole lines;
//   - a transmit queue for each Ethernet port, whose frames are a header slot in Arm memory and payload where it lies
//     in the host (FN 3.2: header-only transmission), or in a ring in Arm memory into which it was copied (staged);
//   - a transmit queue for copies and invalidations (FN 3.3), by which completions reach the host, too;
//   - one pipe of send elements and one of receive entries for each context, and one of completions for each
//     completion queue that its queue pairs use.
//
// Its loops are polled in turn and cost nothing while they sleep: the completion ring of the receive queue, work
// (packets that may leave, doorbells), timers, the completion rings of the transmit queues and of copies, pipes.
//
// # Groups
//
// A register write holds an Arm core for about as long as the rest of its work on a packet. So requests to the NIC are
// collected while loops find work, and announced together: the work loop rings one doorbell per queue for all packets,
// copies and completions of a turn (Spec.Burst limits it), asks for one completion entry for all copies, and
// acknowledges once what arrived together. Groups form only under load: one packet alone is announced at once, by a
// pushed entry where the NIC has that part. The work loop comes behind the receive queue and, turns being a circle,
// behind the pipes, so that a lone packet waits for few polls. Within a turn, acknowledgements leave before copies, and
// completions, with the copies that a fence orders before them, before packets, since less work holds them up than the
// other way round. The next completion entries, header and elements are prefetched, also before the doorbells of a
// turn, during which the core stands still.
//
// # A received packet
//
// The NIC writes headers and payload into the Arm's last-level cache. The core reads the headers, and the transport
// decides about the payload. A payload of whole lines goes to the host by one entry that copies and invalidates.
// Otherwise the core posts copies first and the invalidation after their end, because entries of a queue may overlap in
// time [D8]. The buffer is reposted when its invalidation has ended.
//
// # Order
//
// A core's copies end in the order of the calls, and the NIC's writes to the host leave in order. With a fence [D10]
// (Spec.Fence) the completion of a received message is posted behind the copies of its payload, and announced by the
// same doorbell: payload and completion take one turn of the core. On a NIC without fences the completion is copied
// when the copies before it have ended, in a second turn. Either way it is never visible before its bytes. READ and
// atomic requests behind a WRITE wait for the end of its copies. A copy that fails when its message was completed moves
// the queue pair to ERR. Atomics read and write host memory by copies, because a load of the core could overtake the
// NIC's earlier writes.
//
// # Congestion control
//
// Each queue pair asks a pacer ([CongestionSpec], stack/cc) before a packet leaves. The core keeps the pacer's timers,
// since a rate matters only where packets leave; timer events due while nothing is sent are caught up with later. Marks
// are read from the IP header that the NIC split off. Receivers send a CNP (DCQCN), or set BECN in the next
// acknowledgement (DCTCP).
//
// Sprayed queue pairs (Spec.Spray) use the transmit queues of all ports in turn; the rules by dest_qp send each packet
// to its core, whatever its port and UDP source port.
//
// # A receive queue that does not run dry
//
// A core's receive queue has 512 descriptors (FN 3.3), shared by all of its queue pairs, and the NIC drops a frame that
// finds none [R9]. Congestion control does not prevent that, because no link is congested: the core, at a fixed time
// per packet, is slower than the peer. So each reliable queue pair tells its peer how many packets it can take
// (transport, "Receive window"): an even share of one half of the descriptors, less the buffers that are being copied
// or invalidated. The other half is for acknowledgements and for answers to the core's own requests, which each queue
// pair bounds in the same way. On cables that
// lose nothing, reliable queue pairs of any number of peers then lose nothing, with three limits:
//
//   - What was promised cannot be taken back. When one more queue pair connects, the shares of the others shrink only
//     as they use up what they were promised. Of 448 usable descriptors the first queue pair is promised 224, the
//     second 112, and so on: if each connects and exchanges a message before the next one does, 4 have promises of
//     464 packets, 8 of 604, and 64 of 1,030. Their peers lose packets if they all send as much at once after that.
//     Subtracting idle promises from new ones would leave later queue pairs almost nothing, for as long as the
//     first are idle.
//   - From about 50 queue pairs a core on, what all of them send before they know their windows is more than the half.
//   - Unreliable queue pairs, raw packets, Solar and peers of other makes have no window, and may take descriptors that
//     others count on.
//
// # Low-latency queue pairs
//
// FN 3.4 has a queue pair for small messages whose payload does not stay on the card: it comes inline in the send
// element, so nothing is fetched from the host, and the receiving NIC writes it to the application's buffer and the
// headers to Arm memory. Where the paper is silent, these decisions were made:
//
//   - The path bypasses the cores' memory, not the cores: elements come by pipes as usual, and a core builds the
//     headers, runs the transport, acknowledges and retransmits. The host drives no queue of the NIC.
//   - Headers and payload of up to 176 B are in the work entry, which the core writes to the NIC's registers
//     (Spec.PushBlocks); longer ones in a header slot, up to an MTU or what fits into a pipe. A message is one packet.
//     Acknowledgements, for which no application waits, use header slots.
//   - The library sends an element at once (FN 3.4), where others wait for the end of the core's turn.
//   - Each such queue pair takes a receive queue of the NIC, whose descriptors are the application's receive requests.
//     A rule before the cores' steers SEND_ONLY and SEND_ONLY_WITH_IMM of its peer there. Acknowledgements and all else
//     go to its core as usual.
//   - The rule draws on a credit account with one credit per descriptor. A SEND that finds no credit goes to the core,
//     which answers with an RNR NAK. The card of the paper has no such accounts: it would drop the packet.
//   - While there are such queue pairs, the NIC drops frames with a wrong ICRC (RX_CTRL.drop_bad_icrc), because the
//     core would notice too late. A frame longer than the receiver's messages is dropped, too [R8]: its sender runs out
//     of retries.
//   - A packet that arrived twice or too early has been written to a buffer. Its descriptor is reposted behind the
//     others, or with selective repeat waits for its turn. So there is one completion per message, in order, naming the
//     buffer that holds it, but receive requests end in the order in which buffers were filled. An application that
//     polls its buffers sees such packets and must tell them apart by their contents.
//   - In ERR the NIC's queue is turned off before requests are flushed. Deregistering a region that contains a buffer
//     of such a queue pair moves it to ERR (EventQPFatal), since the NIC checks no key when it writes.
//
// Low-latency queue pairs are not available for UC, UD, raw packets, Solar, shared receive queues or offload engines.
//
// The package is not the control plane: it assigns no numbers, and trusts its callers' information about queue pairs.
// It knows no board, no model of a NIC and no host software.
//
// Invariants:
//   - Input that a core cannot interpret (an element that no library writes) or a failed queue ends the core with an
//     error that names core and queue; nothing panics.
//   - Memory is allocated when a core is opened and when objects are created; in steady state nothing allocates.
//   - A buffer is never with the NIC and in use here at the same time.
//
// "FN" is FlexiNS, "SN" the paper SmartNS; [D8] and its like are clauses of docs/nic.md.
package data
