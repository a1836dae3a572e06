// Package hostnet is a network stack in software on the cores of a host: messages of stack/rpc over UDP, without an
// RDMA transport in the NIC. It is the stack of the servers and clients of the CEIO study.
//
//	                 Path (how packets reach a core)
//	NIC ── receive queue ── Packet ──▶ Flow ── rpc ──▶ Server | Client | Sink (the application)
//	NIC ◀─ transmit queue of the core ──┘  ◀── requests, answers, acknowledgements
//
// A node is one NIC, driven from the host through stack/driver. A flow is a pair of UDP ports and belongs to one core.
// It has its own steering rule, on destination address and port, and its own receive queue with buffers in host memory;
// flows of a core share a transmit queue. A loop of the core polls the flow's Path, gives packets to rpc, hands them to
// the application, and sends what rpc and the application have to send, with one doorbell for a burst.
//
// Path is the interface behind which systems differ. Direct is plain DDIO: buffers are posted again once they have been
// processed. Others (stack/ceio) come from FlowConfig.Path.
//
// Software pays for its work: descriptors, completion entries, headers and payload are loads and stores of the core,
// registers are posted writes, and each packet costs the cycles of Spec.
//
// # Answers
//
// An answer travels behind an acknowledgement (see stack/rpc), in one packet. Packets are repaired by rpc; if an
// acknowledgement with an answer is lost, the client asks again: it sends the same request as a new message. So a
// server may get a request twice, and the client an answer; the second answer is dropped here.
//
// # Limits
//
// Not supported, and refused by an error: answers of several packets, packets longer than the NIC's frames. IPv4
// fragments are not put together: a first fragment is dropped as broken, and the others match no rule of a flow. Not
// modelled: ARP and neighbour discovery (addresses are configuration; a node announces itself once by a
// gratuitous ARP, IPv6 nodes do not), routing.
//
// Invariants:
//   - Every packet that the NIC delivered is handed to the application once, unless it had arrived before or is broken.
//   - Per flow: packets sent = packets new to the receiver + packets that had arrived before + packets lost. The NIC
//     counts those that it drops (RX_DROP_*).
//   - A buffer is posted again only after its packet was processed, and, if an answer is sent from it, after that left.
//   - Nothing allocates for a packet in the steady state.
package hostnet
