// Package rdma has the experiments about paths that need a NIC with a hardware
// RDMA transport (models/rnic): the latency and rate of operations, the contexts
// that paths share, large messages, paths side by side, and doorbells.
//
//	latency   of one request at a time (OP Fig. 4)
//	rate      of small requests (OP Fig. 4)
//	machines  the same by the number of machines
//	zero      of READs of no bytes (OP Fig. 11)
//	large     bandwidth of long messages (OP Fig. 8 and 9)
//	together  path 1 beside path 3 (OP section 4)
//	beside    path 1 beside either path 3, by operation
//	cap       path 1 beside a path 3 of a given rate
//	skewed    random requests to few addresses (OP Fig. 7)
//	framing   what RoCEv2 headers change
//	hops      links of a request; RDMA against DMA
//	doorbell  posting by doorbell for many entries at once (OP Fig. 10)
//	cores     posting by software on simulated cores, against charged costs
//
// What is measured stands in a testbed (bed.go): the target, a BlueField-2 card
// in its server or a plain NIC in one, and client machines with plain NICs, all
// on one switch. Software is light: threads (thread.go) that post to queue pairs
// of their own and see completion entries, and servers (echo.go) that answer
// SENDs. The time that software takes is charged as declared inputs; what it
// reads and writes takes none (but in cores.go, where it runs on models/server/cpu).
//
// A path is who asks and whose memory is asked for: 1 a client the host's, 2 a
// client the Arm's, 3 S2H the Arm the host's, 3 H2S the host the Arm's.
//
// Invariants:
//   - No packet is lost and none is sent twice, or the experiment fails.
//   - What is recorded is the time and the number of completion entries that
//     software saw, and the counters of components.
package rdma
