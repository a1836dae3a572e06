// Package dma is the function of the SmartNIC's copy engine: Copy, Invalidate and CopyInvalidate as
// in docs/nic.md, section 17, without time.
//
// Decode checks a work entry and returns its plan. Channel is one channel of the engine as a state
// machine: it returns what to read next, takes what came, and returns what to write next and which
// entry has ended. models/nic adds time, tags and TLPs.
//
// It does not issue TLPs, know queues, or count.
//
// Invariants:
//   - Every byte of a destination is returned by Write at most once, and only after it came.
//   - Copies of a channel end in the order in which they were started.
//   - Nothing allocates once a channel has worked for a while.
//
// References in brackets, as [D1], are rules of docs/nic.md.
package dma
