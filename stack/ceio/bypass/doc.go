// Package bypass is CEIO for the queue pairs of a NIC with a hardware transport (models/rnic), whose messages reach
// memory without a core: RDMA WRITEs closed by one WRITE_IMM, or SENDs. It is the software beside the NIC's credit
// accounts, and runs on the core of the driver's bus.
//
// Every queue pair has an equal share of the credits. A packet takes one; the NIC keeps packets without a credit in
// memory of the card. Software acts at these occasions:
//   - A message has been taken by its application (Processed): its credits return, once a batch of messages was taken.
//   - The NIC reports that a message, a READ or an atomic waits for slow packets: these are copied, in runs that are no
//     longer than the share. That the account ran out of credits is no reason by itself.
//   - A run was copied: another one follows if slow packets are left. If none are, the account is resumed with the
//     credits that have come back meanwhile.
//
// Copied packets that no application has taken fill the cache, too, so they are no more than the share: a run waits
// until applications have taken half of it. This holds back neither READs, atomics and packets without a free slot,
// nor a message that is longer than the share.
//
// So messages with more packets than the share run dry, as CEIO wants flows that bypass the core to, and others do not.
//
// Unlike in stack/ceio/manager, shares are not reallocated, and the NIC knows where slow packets belong: there is no
// software ring.
//
// Invariants:
//   - Credits of a flow never exceed its share: balance, credits in use, and credits not yet returned add up to it.
//   - A run of copies is in progress for a flow, or nothing waits for its slow packets, or an event is on its way, or
//     there is a message for an application to take.
package bypass
