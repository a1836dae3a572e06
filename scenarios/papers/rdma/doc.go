// Package rdma has the experiments about paths that need a NIC with a hardware RDMA transport (models/rnic): the
// latency and rate of operations, the contexts that paths share, large messages, paths side by side, and doorbells.
//
//	latency   latency of one request at a time (OP Fig. 4)
//	rate      rate of small requests (OP Fig. 4)
//	machines  rate of small requests, by number of machines
//	zero      rate of READs of no bytes (OP Fig. 11)
//	large     bandwidth of long messages (OP Fig. 8 and 9)
//	together  path 1 beside path 3 (OP section 4)
//	beside    path 1 beside either direction of path 3, by operation
//	cap       path 1 beside a path 3 of a given rate
//	skewed    random requests to few addresses (OP Fig. 7)
//	framing   effect of RoCEv2 headers
//	hops      links that a request crosses; RDMA against DMA
//	doorbell  posting by one doorbell for many entries (OP Fig. 10)
//	cores     posting by software on simulated cores, against charged costs
//
// The testbed (bed.go) has a target, which is a BlueField-2 card in its server or a plain NIC in one, and client
// machines with plain NICs, all on one switch. Software consists of threads (thread.go), which post to queue pairs of
// their own and take completion entries, and of servers (echo.go), which answer SENDs. The time that software takes is
// charged as declared inputs; its accesses to memory take no time, except in cores.go, where it runs on
// models/server/cpu.
//
// A path is named by its requester and the memory that it accesses:
//
//	1      a client, the host's memory
//	2      a client, the Arm's memory
//	3 S2H  the Arm, the host's memory
//	3 H2S  the host, the Arm's memory
//
// Invariants:
//   - An experiment fails if a packet is lost or sent twice.
//   - Experiments record the times and numbers of completion entries that software saw, and counters of components.
package rdma
