// Package driver is the software side of the hardware contract: what a driver on the Arm cores does with a NIC. It
// sets up keys, rules and queues by table commands, posts descriptors and work entries, rings doorbells, and follows
// completion rings.
//
// It speaks to the NIC through a root complex only, so it cannot tell which NIC it drives, and it is driven by the
// simulation's own events: nothing here waits. It is not a network stack and knows no protocol.
//
// Invariants:
//   - Commands are carried out one after the other; a table command is over when a read of TBL_CMD says so.
//   - A descriptor slot is posted again only after its completion entry was seen, as [Q2] demands.
//   - Whatever the NIC answers wrongly ends in Err, as a *boundary.ContractError that names the rule; later commands are not
//     carried out.
package driver
