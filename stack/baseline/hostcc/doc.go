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
// The loop (package control) samples once in a period, which costs its core Spec.SamplePs, and sets the throttle of the
// host's cores (models/server/host/throttle). Level k passes Spec.Rate / 2^(k−1) for each core, where the published
// implementation has levels of Intel's MBA, and one that stops processes. By default the cores of the flows are left
// alone, as there: only the host's other traffic is throttled.
//
// While the occupancy is above its threshold, packets are marked, in one of two ways. The core of a flow sets CE in the
// header in host memory when it hands a packet over, as the published implementation does in the kernel; no NIC has to
// support that. Or the NIC does, in a second receive queue of the flow (hostnet.Marked), to which the core of the loop
// leads the flow's rule. That costs it register writes, and a NIC with credit accounts and ECN marking.
//
// The loop rests when the NIC has written nothing for Spec.ReducePs and nothing is throttled, so that a board comes to
// rest. The next packet that a core takes wakes it, with its averages as they would be had it gone on.
//
// Not modelled: the time that a new level takes to be effective, and interrupts.
//
// Invariants: those of control; packets reach their flows in the order in which the NIC took them, marked or not.
package hostcc
