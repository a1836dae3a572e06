// Package driver is the software side of the hardware contract (docs/nic.md):
// what a driver on the Arm cores does with a NIC. It sets the NIC up by
// registers and table commands, posts descriptors and work entries, rings
// doorbells, and follows completion rings.
//
// It reaches the NIC through a Bus only, so it cannot tell which NIC it drives,
// nor whether its accesses take time. Nothing here waits: what takes time ends
// in a callback. It is not a network stack and knows no protocol.
//
//	d, err := driver.New(bus, driver.DefaultOptions())
//	rx, err := d.OpenRx(driver.RxConfig{Queue: 3, LogSize: 8, PayBytes: 2048, OnFrame: f})
//	rx.Post(driver.Buffer{Pay: addr})   // for each buffer
//	rx.Ring()                           // one doorbell for all of them
//	d.Enable(true, true)
//	d.Then(f)                           // when all of that is in force
//
// # Commands
//
// Register accesses, table commands [G6] and whatever is made of them (keys,
// rules, enabling a queue, a function-level reset) are carried out one after the
// other, in the order in which they were asked for. Posting and doorbells are
// not commands: they happen at once, or, while a queue is being enabled, as soon as that is done.
//
// # Buffers
//
// Received bytes are not copied: a receiver gets their address, and owns the
// buffer from then on. Copier is a receiver that copies them out and posts the
// buffer again.
//
// # Without a driver
//
// Tests that do what no driver would do (wrong doorbells, half of a command)
// use the layer below: a RawQueue knows where entries lie and which completion
// entries were written, Staged are the writes of a table command, KeyID names a
// memory key, Target.Default and Encode of each Entry encode without checking.
//
// # Errors
//
// A call that asks for what the contract does not allow returns an error that
// says what would be right, and does nothing. What the NIC answers wrongly ends
// the driver: Err is then a *boundary.ContractError that names the rule, and
// later commands are not carried out.
//
// # Invariants
//
//   - A slot of a ring is written again only after the completion entry of its
//     former use was seen, as [Q2] demands.
//   - A doorbell is rung only after the entries that it announces are in memory.
//   - A completion ring is cleared before its queue is enabled, and followed
//     until the queue is off, so that no entry is missed and none is seen twice.
//   - Whatever bytes a device writes into a completion ring, nothing panics.
//   - In steady state receiving and transmitting allocate nothing.
package driver
