// Package provider gives a NIC with a hardware RDMA transport (models/rnic) the
// interface of package verbs, over its driver rnicverbs. It is to that NIC what a
// provider of libibverbs is: checks of posting, tables of objects and keys, and
// translation; the transport is the NIC's.
//
// Addresses of regions are bus addresses [P1]. Completion queues, rings and the
// memory of applications must lie at one endpoint: completions then follow what
// they tell of.
//
// What the NIC lacks is not announced in DeviceAttr, and refused with EOPNOTSUPP:
//
//   - lists of more than one piece (MaxSGE is 1) and inline data beyond 32 B;
//   - shared receive queues, and keys invalidated by requests;
//   - ModifyQP to ERR and RESET, SQD, and within a state; errors of UC and UD lead to ERR, not to SQE;
//   - protection domains: those of local keys are checked here, those of remote keys nowhere;
//   - DestroyQP while requests are under way: EBUSY. The NIC forgets neither completion queues nor address handles:
//     their rings are used again, their numbers are not;
//   - two control verbs of one queue pair at a time: EBUSY for the second;
//   - events for solicited completions only: completion entries do not tell of the solicited bit;
//   - asynchronous events but that of an overrun.
//
// Invariants:
//   - Requests end in the order of their queue; a request that is refused when posting leaves no trace.
//   - A completion queue's ring in memory has room for every request that its queue pairs have posted: PostSend and
//     PostRecv end with ENOMEM before it could overrun. Applications see a queue of the size that they asked for,
//     which is filled as entries arrive, and can overrun.
//   - In steady state posting and polling allocate nothing.
package provider
