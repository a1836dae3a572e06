// Package golden is the referee: it watches everything that crosses a NIC's
// boundary and says where the NIC did what docs/nic.md does not allow.
//
// The referee is fed with crossings in the order of their cycles and knows
// nothing of what stands behind the boundary: the Go model, verilated RTL or
// another process. The device leads, the reference follows: what the device
// was given, and what it read, is fed to the functional core of models/nic, and
// any outcome that the contract allows is accepted. Outputs are ordered only
// within a domain: one receive queue, one transmit queue, the register reads.
// Expectations are kept per domain; each output is attributed to its domain by
// what it touches and compared with the head of that domain's expectations.
//
// It does not drive anything, does not judge how fast the device is, and does
// not hold the pins of the RTL to the rules of AXI-Stream: the compiled harness
// does that at full speed.
//
// Where the contract leaves a choice the referee keeps all legal outcomes until
// the device has shown which one it took. Where the contract is silent it takes
// the wider reading, with these bounds of its own:
//
//   - A read of a ring covers whole entries.
//   - A frame that is to be dropped leaves the receive buffer Config.LingerCycles
//     after its last beat, or when a later frame of its port is delivered.
//   - A frame that is neither delivered nor passed by a later one while
//     Config.HoldBytes of its port's frames came in counts as dropped.
//   - An answer to a register read may show the registers as they were when the
//     read was accepted, or as they are when the answer leaves.
//   - A queue's entry, loaded by a table command, may show any indices from those
//     that the outputs before the command tell to those that the outputs since,
//     and what is under way, allow; and Error from a failing read on.
//   - When work entries name the same memory, a read counts for any of them that
//     can have made it, byte by byte (docs/attribution.md): the device is right as
//     long as some assignment explains all that was seen.
//   - A write that lies in the destinations of several copies at work may be any
//     one's that can have made it: it is matched with them, byte by byte, not with
//     the reads at the same time.
//   - When queues send the same message, each that may have sent it may have been
//     reported by it; as many messages have to come as queues surely owe one.
//   - "Held back" is what observers are told of (boundary.Held): a beat was
//     offered and not taken. All of a TLP counts as sending it, gaps within too.
//   - A former setting of DEVCTL is followed no longer once nothing is under way
//     that can have begun under it.
//   - A register write during a function-level reset counts as written before its
//     end, unless a read had shown that it was over.
//   - A write to receive buffers that overlap is taken for the descriptor whose
//     completion entry demands its bytes.
//   - A pause frame may come as late as the longest frame takes, and twice 64
//     cycles, after the buffer's level asks for it, not counting cycles in which
//     its port was held back. That level is at most the
//     frames that are not known to have left, and at least those delivered later.
//   - A write of table PortCfg may end the stops of its port. Entries may be
//     fetched 1,024 cycles into a stop of their class, not counting those of other TLPs and
//     those in which m_axis_tlp was held back. The latter do not count for the end
//     of a reset either.
//   - The pin busy is held to what crossings show that the device held. Of bytes
//     that were read and wait to leave, since the latest that were read.
//   - For Config.LingerCycles after an account was set anew, frames that were not
//     delivered may be some that it let pass before.
//
// What the other side of the boundary does wrong (a completion that does not
// fit, a driver that writes a table while a command is under way) is no
// mismatch of the device. It is listed in Report.Notes.
//
// Invariants:
//   - Observe allocates nothing in steady state, while nothing differs.
//   - Results depend on the crossings and the Config only.
//   - A run that compared nothing is not a pass.
//
// References in brackets, as [R5], are rules of docs/nic.md.
package golden
