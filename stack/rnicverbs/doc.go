// Package rnicverbs is a minimal verbs driver for a NIC with a hardware RDMA transport (models/rnic): regions,
// completion queues, queue pairs, posting and polling. It knows only that NIC's programming interface,
// models/rnic/rnicspec.
//
// It reaches the NIC through a driver.Bus, so it cannot tell whether accesses take time, nor whether it runs on the Arm
// or on the host. Nothing here waits: what takes time ends in a callback.
//
//	d, err := rnicverbs.Open(bus, arena)
//	d.SetPort(rnicspec.SetPort{...})
//	d.RegMR(rnicspec.CreateMR{...})
//	cq, err := d.NewCQ(10)
//	qp, err := d.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: 8, RecvLog: 8, Send: cq, Recv: cq})
//	qp.Connect(rnicspec.ModifyQP{...})
//	d.Then(f)                          // when the NIC has done all of that
//	qp.Post(&w); qp.Ring()             // a doorbell for any number of entries
//	qp.Push(&w)                        // or one entry by MMIO
//	cq.Poll(each, done)
//
// Commands are carried out one after the other in the order of the calls. The first one that the NIC refuses ends the
// driver; Err names it. Posting is not a command: it happens at once.
//
// MarkArriving sets the register for hosts that are congested themselves; it is no command either.
//
// It is not libibverbs: it has no protection domains, events or connection management.
//
// An SRQ serves any number of queue pairs (QPConfig.SRQ). Cores of several buses can post to it (SRQ.Open). They do so
// one after another: entries and doorbell leave a core when it has the queue's lock.
//
// Invariants:
//   - A doorbell is rung only after the entries that it announces are in memory.
//   - A slot of a send ring is overwritten only after a completion entry of its request, or of a later one, was polled;
//     Post returns ErrFull until then.
//   - In steady state posting and polling allocate nothing.
package rnicverbs
