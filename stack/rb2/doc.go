// Package rb2 is RB², a ring buffer between two servers over one-sided RDMA
// (RB² sections 3 and 4), on any stack of package verbs.
//
// A ring has one sender and one receiver. Both have its slots in their memory,
// at the same places: the sender writes a message to a slot of its own, and
// RDMA WRITEs carry slots over as they are. Pointers say which slots have what:
//
//	sender    tail          slot of the next message
//	          synced_tail   tail when the receiver was last to be told of it
//	          esc_tail      slots before it were transmitted
//	          local_head    head as the receiver last told
//	receiver  head          slot of the message to be read next
//	          synced_head   head when the sender was last told of it
//	          local_tail    tail as the sender last told
//
// They are counts that only grow; count n is slot n modulo the number of slots.
// The ring is empty for a receiver when head is local_tail, and full for a
// sender when tail is one slot short of local_head (section 3-B).
//
// Three thresholds batch what is told (Algorithm 1). Beta messages are
// transmitted by one WRITE. After alpha messages the tail is written behind
// them (a message is written twice: its slot, and a tail that covers it). Of the
// sender's WRITEs this is the only one with a completion, and while it has not
// come, the next is left out: batches grow under load (elastic threshold).
// After gamma messages that were read, the receiver writes its head to the
// sender (lazy push).
//
// Other ways are here to compare with (spec.go). Those of section 4-A: the sender
// READs the head when the ring looks full (HeadPull), and each message is a
// WRITE_WITH_IMM whose completion tells the receiver of it (TailImm). Those of the
// paper's comparators: the receiver looks at a word of the next slot (TailWord,
// TailLast), and a sender has so many messages under way at most (Spec.Window).
//
// # Where Algorithm 1 and its text differ
//
//   - Line 6 compares with alpha, the text with beta: alpha.
//   - Line 2 compares with local_tail, which a sender does not have: local_head.
//   - Line 13 has ">", the worked example needs ">=" after the message was counted: ">=".
//   - A tail that is left out is published with the next alpha messages. If none
//     come, nobody is told of them: Flush, which Algorithm 1 does not have, is
//     for senders that have nothing to write for now. A full ring whose receiver
//     has fewer than gamma messages left to read would stand still in the same
//     way: there, Flush is allowed, too.
//
// # What it needs of its stack
//
// What WRITEs of one RC queue pair carry is placed in the order in which they
// were posted: IBTA promises that for whole requests only to readers that are
// told by a completion of the receiver's; RB², as FaRM and L5, relies on more.
// NICs do it (the PCIe ordering rules keep posted writes in order). A word is
// aligned, and has to land whole. TailLast wants the bytes of one WRITE placed in
// order, too.
//
// It checks nothing of the messages, and knows neither stack nor NIC nor time.
//
// Invariants:
//   - No pointer goes back, and no published tail covers a slot that was not
//     transmitted before (by order of posting).
//   - A word that the other side wrote is checked: what cannot be is an error.
//   - In steady state nothing is allocated.
package rb2
