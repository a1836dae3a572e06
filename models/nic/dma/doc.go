// Package dma is the function of the SmartNIC's copy engine: Copy, Invalidate and CopyInvalidate as
// in docs/nic.md, section 17, without time.
//
// Decode checks a work entry and returns its plan. Channel is one channel of the engine as a state
// machine: it returns the next read, takes its data, and returns the next write and the copy that has
// ended. models/nic adds time, tags and TLPs.
//
// It does not issue TLPs, know queues, or step counters.
//
// Invariants:
//   - Every byte of a destination is returned by Write at most once, and only after it was read.
//   - Copies of a channel end in the order in which they were started.
//   - Nothing allocates after NewChannel.
//
// References in brackets, as [D1], are rules of docs/nic.md.
package dma
