// Package golden is the referee: it watches everything that crosses a NIC's boundary and reports
// where the NIC did what docs/nic.md does not allow.
//
// The referee receives crossings in the order of their cycles and knows nothing of what is behind
// the boundary: the Go model, verilated RTL or another process. The device leads, the reference
// follows: whatever the device was given or has read goes to the functional core of models/nic, and
// any outcome that the contract allows is accepted. Outputs are ordered only within a domain: one
// receive queue, one transmit queue, the register reads. Expectations are kept per domain; each
// output is attributed to its domain by what it touches and compared with the head of that domain's
// expectations.
//
// The referee drives nothing, does not judge how fast the device is, and does not check the pins of
// the RTL against the rules of AXI-Stream: the compiled harness does that at full speed.
//
// Where the contract leaves a choice, the referee keeps all legal outcomes until the device has
// shown which one it took. Where the contract is silent, it takes the wider reading, with these
// bounds of its own:
//
//   - A read of a ring covers whole entries.
//   - A frame that must be dropped leaves the receive buffer Config.LingerCycles after its last
//     beat, or when a later frame of its port is delivered.
//   - A frame that is neither delivered nor overtaken by a later one while Config.HoldBytes of its
//     port's frames come in counts as dropped.
//   - An answer to a register read may show the registers as they were when the read was accepted,
//     or as they are when the answer leaves.
//   - A queue's entry, loaded by a table command, may show any indices between those given by the outputs before the
//     command and those that later outputs and work under way allow. It may show state Error as soon as a read of the
//     queue's ring has failed.
//   - Where work entries name the same memory, a read counts for any of them that can have made it,
//     byte by byte (docs/attribution.md): the device is right as long as some assignment explains
//     everything seen.
//   - A write in the destinations of several copies at work may belong to any that can have made it. Writes are
//     matched with copies byte by byte, independently of the matching of reads.
//   - Where several queues send the same message, each of them may have reported its entries by it. At least as many
//     messages must come as there are queues that surely owe one.
//   - "Held back" is what boundary.Held reports: a beat was offered and not taken. All cycles from a TLP's first beat
//     to its last count as sending it, including gaps.
//   - A former setting of DEVCTL no longer applies once nothing is under way that can have begun
//     under it.
//   - A register write during a function-level reset counts as written before its end, unless a
//     read had shown that the reset was over.
//   - A write to overlapping receive buffers is taken for the descriptor whose completion entry
//     demands its bytes.
//   - A pause frame may come as late as the time of the longest frame plus twice 64 cycles after the buffer's level
//     asks for it, not counting cycles in which its port was held back. That level is at most the size of the frames
//     not known to have left, and at least that of the frames among them that are delivered later.
//   - A write of table PortCfg may end the stops of its port. Entries may be fetched up to 1,024
//     cycles into a stop of their class, not counting cycles of other TLPs and those in which
//     m_axis_tlp was held back. The latter do not count for the end of a reset either.
//   - The pin busy must be high while crossings show that the device held work. Bytes that were read and have not
//     left are such work, from the cycle of the latest completed read on.
//   - For Config.LingerCycles after a table write of an account, frames that are not delivered yet may have passed
//     the account before that write.
//
// Mistakes of the other side of the boundary (a completion that does not fit, a driver that writes
// a table while a command is under way) are no mismatches of the device. Report.Notes lists them.
//
// Invariants:
//   - Observe allocates nothing in steady state, while nothing differs.
//   - Results depend on the crossings and the Config only.
//   - A run that compared nothing is not a pass.
//
// References in brackets, as [R5], are rules of docs/nic.md.
package golden
