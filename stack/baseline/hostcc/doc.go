// Package hostcc is the receive path of HostCC, a rival of CEIO: it watches the buffer between PCIe and memory, leaves
// packets more of the memory's bandwidth when that buffer fills, and lets senders know by ECN. It is the hostnet.Path
// of a node's flows, over plain DDIO.
//
//	NIC ──▶ IIO buffer ──▶ last-level cache, memory ──▶ core of the flow ──▶ marks CE ──▶ application, DCTCP
//	            │                   ▲
//	            ▼ occupancy, bytes  │ rate of the cores' own traffic
//	         control loop ──────────┘
//	         on a core of its own
//
// The loop samples once in a period and sets the throttle of the host's cores (package monitor). Over an RDMA NIC,
// whose packets pass no software, package rdma takes the place of this one.
//
// While the occupancy is above its threshold, packets are marked, in one of two ways. The core of a flow sets CE in the
// header in host memory when it hands a packet over, as the published implementation does in the kernel; no NIC has to
// support that. Or the NIC does, in a second receive queue of the flow (hostnet.Marked), to which the core of the loop
// leads the flow's rule. That costs it register writes, and a NIC with credit accounts and ECN marking.
//
// The next packet that a core takes wakes a loop that rests.
//
// Invariants: those of monitor; packets reach their flows in the order in which the NIC took them, marked or not.
package hostcc
