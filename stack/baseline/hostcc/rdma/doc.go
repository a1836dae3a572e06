// Package rdma is HostCC over a NIC with a hardware RDMA transport (models/rnic). The control loop is that over UDP
// (package monitor): it watches the buffer between PCIe and memory and throttles the host's other cores. But packets
// pass no software of the receiver, so the NIC has to mark them: while the occupancy is above its threshold, a register
// of the NIC is set, and ECN-capable packets count as marked when they arrive. The NIC tells senders so by itself, with
// DCTCP by acknowledgements, with DCQCN by CNPs.
//
//	NIC ──▶ IIO buffer ──▶ last-level cache, memory ──▶ core of the application
//	 ▲          │                    ▲
//	 │          ▼ occupancy, bytes   │ rate of other cores' own traffic
//	 └───── control loop ────────────┘
//	 register  on a core of its own
//
// The register is written when the decision changes, by the core of the loop, as a posted write: the decision has its
// effect when that has reached the NIC. No NIC on sale is known to have such a register; HostCC's authors mark in the
// receiver's kernel, and CEIO's do not say how their eRPC over RDMA does.
//
// The device's next write wakes a loop that rests.
//
// Invariants: those of monitor; the NIC marks nothing while the loop rests.
package rdma
