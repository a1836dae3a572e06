// Package provider implements package verbs for a NIC with a hardware RDMA transport (models/rnic), over its driver
// rnicverbs. It corresponds to a provider of libibverbs: it checks posted requests, keeps tables of objects and keys,
// and translates; the transport is the NIC's.
//
// Addresses of regions are bus addresses [P1]. Completion queues, rings and the memory of applications must be at one
// endpoint, so that completions arrive after their data.
//
// Queue pairs may have credits for what they receive (SetAccounts), without applications knowing.
//
// Contexts of one NIC (On) can share a receive queue (OpenSRQ). From the first OpenSRQ on, cores post to it one after
// another, under a lock in memory whose word they read and write, and ring the doorbell before they free it. How cores
// agree on free entries when they take completions costs nothing.
//
// Features that the NIC lacks are not announced in DeviceAttr, and are refused with EOPNOTSUPP:
//
//   - lists of more than one piece (MaxSGE is 1) and inline data beyond 32 B;
//   - keys invalidated by requests, and NOP;
//   - ModifyQP to ERR and RESET, SQD, and within a state; errors of UC and UD lead to ERR, not to SQE;
//   - protection domains: those of local keys are checked here, those of remote keys nowhere;
//   - DestroyQP while requests are in flight: EBUSY. The NIC never frees completion queues or address handles: rings
//     are reused, numbers are not;
//   - two control verbs of one queue pair at a time: EBUSY for the second;
//   - events for solicited completions only: completion entries lack the solicited bit;
//   - asynchronous events other than overruns and those of shared receive queues (limit, last request taken).
//
// Invariants:
//   - Requests complete in the order of their queue; a request refused when posting leaves no trace.
//   - A completion queue's ring in memory has room for every request that its queue pairs have posted: PostSend and
//     PostRecv return ENOMEM before it could overrun. Every request of a shared receive queue counts in each
//     completion queue of its queue pairs. Applications see a queue of the requested size, which is filled as entries
//     arrive, and can overrun.
//   - In steady state posting and polling allocate nothing.
package provider
