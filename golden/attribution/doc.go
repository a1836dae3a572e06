// Package attribution knows the work entries that a device has read, and decides
// whose each of its reads was, and each write of a copy, where several entries
// name the same memory. docs/attribution.md states the problem and how it is
// solved; in short, the device is right as long as some assignment of reads to
// entries explains all that was seen.
//
// Entries is told which blocks of work entries the device has (BlockIn,
// NextWhole, Begin), what it asked for (Outstanding.Begin, Ask, Spread), what
// came or failed (Store, Failed), what it wrote (Writer) and when an entry is over
// (Release). It is asked what may become of an entry (Outcomes), whether a frame
// can be an entry's (Sends), and what keeps an entry waiting (Before, Fence). An
// entry whose memory keys were rewritten while it was at work has several
// readings, linked by Alt, until the device shows which one it took.
//
// It judges only what it alone can see, that writes and copies cannot be matched
// [D2], and writes that down in the log; all else is its caller's to say. It does
// not see crossings, receive, doorbells or registers.
//
// Invariants:
//   - A byte of a piece is filled by one read at most, and a read fills one byte of
//     one entry for each of its own.
//   - A search that fails leaves everything as it was.
//   - Where no memory is shared, a read is taken as it comes: no record of it is
//     kept, and nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package attribution
