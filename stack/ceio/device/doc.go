// Package device carries out a manager's decisions on a NIC, through stack/driver: the rings, buffers, rule and account
// of each flow, the copies of slow packets, and credits. It works over any driver.Bus, with cores or without.
//
// The fast ring of a flow has its buffers in host memory, the slow one in the memory of the card. Both have descriptors
// and completion entries in host memory, where the flow's software polls them. The n-th slow packet is in slot n of the
// slow ring. A run of adjacent ones is copied to adjacent landing buffers, with the gaps between them, by one copy:
// always to the first buffers that are free, so that few buffers are in the cache if few are in use. Where frames are
// split, headers and payload are in buffers apart in each of the memories, and a run is two copies, without gaps if
// packets fill their buffers. The NIC itself reads the card's memory for a copy, behind its own writes of the packets,
// so that no flush is needed.
//
// All writes of an account go through the bus of its flow, because the order of writes from different cores is not
// defined. An account is read once they have taken effect on every frame: after a register read through that bus, and
// Config.After, which waits for the 64 cycles of [A5].
//
// Invariants:
//   - A buffer of the fast ring is posted again only after its packet was processed, one of the slow ring only after
//     its copy has ended, and a landing buffer is filled again only after its packet was processed.
//   - With controller `nic`, the NIC knows of a descriptor for each credit of an account.
//   - Every packet is handed over once, in the order of account_seq.
package device
