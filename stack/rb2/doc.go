// Package rb2 implements RB², a ring buffer between two servers over one-sided RDMA (RB² sections 3 and 4), on any
// stack of package verbs.
//
// A ring has one sender and one receiver. Both have its slots in their memory, at the same offsets: the sender writes a
// message to its own slot, and RDMA WRITEs copy slots to the receiver unchanged. Pointers track the slots:
//
//	sender    tail          slot of the next message
//	          synced_tail   tail last announced to the receiver
//	          esc_tail      slots before it were transmitted
//	          local_head    head as the receiver last reported
//	receiver  head          slot of the next message to read
//	          synced_head   head last reported to the sender
//	          local_tail    tail as the sender last announced
//
// They are counts that only grow; count n stands for slot n modulo the number of slots. The ring is empty for a
// receiver when head equals local_tail, and full for a sender when tail is one slot short of local_head (section 3-B).
//
// Three thresholds batch the traffic (Algorithm 1). One WRITE transmits beta messages. After alpha messages the tail is
// written behind them (so a message takes two writes: its slot, and a tail that covers it). Of the sender's WRITEs only
// this one has a completion; until it has arrived, further tails are skipped, so batches grow under load (elastic
// threshold). After gamma messages read, the receiver writes its head to the sender (lazy push).
//
// Other methods are implemented for comparison (spec.go). Those of section 4-A: the sender READs the head when the ring
// looks full (HeadPull), and each message is a WRITE_WITH_IMM whose completion notifies the receiver (TailImm). Those
// of the paper's comparators: the receiver polls a word of the next slot (TailWord, TailLast), and a sender limits the
// messages in flight (Spec.Window).
//
// # Where Algorithm 1 and its text differ
//
//   - Line 6 compares with alpha, the text with beta: alpha.
//   - Line 2 compares with local_tail, which a sender does not have: local_head.
//   - Line 13 has ">", the worked example needs ">=" after the message was counted: ">=".
//   - A skipped tail is published with the next alpha messages. If none follow, the receiver never learns of the last
//     messages: Flush, which Algorithm 1 lacks, is for senders that have nothing to write for now. A full ring whose
//     receiver has fewer than gamma messages left to read would stall in the same way: Flush is allowed there, too.
//
// # Requirements on the stack
//
// WRITEs of one RC queue pair are placed in the order in which they were posted. IBTA promises that only for whole
// requests and to readers notified by a completion at the receiver; RB², like FaRM and L5, relies on more. NICs provide
// it (the PCIe ordering rules keep posted writes in order). A word is aligned and must be written atomically. TailLast
// needs the bytes of one WRITE placed in order, too.
//
// The package does not check the messages, and knows neither stack nor NIC nor time.
//
// Invariants:
//   - No pointer moves back, and no published tail covers a slot that was not transmitted before it (by order of
//     posting).
//   - A word that the other side wrote is checked: an impossible value is an error.
//   - In steady state nothing is allocated.
package rb2
