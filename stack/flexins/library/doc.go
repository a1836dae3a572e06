// Package library is the library that applications on a host call: it implements package verbs over the kernel module,
// the mailbox to the card's control core, and the pipes to and from its data cores.
//
// Control verbs enter the kernel module and go on through the mailbox; their callbacks run as software of the library's
// core. Data verbs stay in user space: a request becomes an element of the SQ or RQ pipe of the queue pair's core, with
// addresses of the card's shadow regions in place of the application's (FN 3.2). Completions are taken from pipes in
// host memory, one for each completion queue and core.
//
// Elements carry numbers in place of an application's IDs, which stay in the library. Memory that the application must
// not name gets an unmapped address: the card then fails the request when its turn comes.
//
// Messages of low-latency queue pairs (verbs.QPInitAttr.LowLatency) travel in elements; the library reads them from
// memory when they are posted. It checks receive requests when they are posted, because the NIC writes to them without
// a check.
//
// Receive entries that do not fill a line are sent at the core's next poll (FN 3.4), by one of its loops. Another loop
// watches the completion rings of followed or armed queues.
//
// Invariants:
//   - Requests that are refused leave no trace.
//   - In steady state posting and polling allocate nothing.
package library
