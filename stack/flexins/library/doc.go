// Package library is what applications on a host call: package verbs' interface
// over the kernel module, the mailbox to the card's control core, and the pipes to
// and from its data cores.
//
// Control verbs enter the kernel module and go on through the mailbox; their
// callbacks run as software of the library's core. Data verbs stay in user space: a
// request becomes an element of the SQ or RQ pipe of the queue pair's core, with the
// addresses of the card's shadow regions in place of the application's (FN 3.2), and
// completions are taken from pipes in host memory, one for each completion queue and
// core.
//
// Elements carry numbers in place of an application's IDs, which stay here. A piece of
// memory that the application may not name gets an address that nothing stands for: the
// card ends the request when its turn has come.
//
// Messages of low-latency queue pairs (verbs.QPInitAttr.LowLatency) go along in elements, from memory, too, which is
// read when they are posted. Their receive requests are looked at when they are posted, as the NIC writes to them on
// its own.
//
// Receive entries that are left over of a line are sent at the core's next poll (FN 3.4),
// as one of its loops. Another watches the completion rings of queues that are followed or armed.
//
// Invariants:
//   - Requests that are refused leave no trace.
//   - In steady state posting and polling allocate nothing.
package library
