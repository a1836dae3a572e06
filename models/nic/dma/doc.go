// Package dma is the copy engine of the SmartNIC: what docs/nic.md, section
// 17, says of Copy, Invalidate and CopyInvalidate, as a function without time.
//
// Decode checks a work entry and says what it asks for. Channel is the engine
// of one channel as a state machine: it says what to read next, takes what
// came, and says what to write next and which entry has ended. models/nic
// wraps it with time, tags and TLPs.
//
// It does not issue TLPs, know queues, or count.
//
// Invariants:
//   - Every byte of a destination is handed out once at most, and only after
//     it came.
//   - Copies of a channel end in the order in which they were started.
//   - Nothing allocates once a channel has worked for a while.
//
// References in brackets, as [D1], are rules of docs/nic.md.
package dma
