// Package attribution tracks the work entries that a device has read. Where several entries name
// the same memory, it decides which entry each read, and each write of a copy, belongs to.
// docs/attribution.md states the problem and its solution; in short, the device is right as long as
// some assignment of reads to entries explains everything seen.
//
// The caller tells Entries which blocks of work entries the device has (BlockIn, NextWhole, Begin),
// what it requested (Outstanding.Begin, Ask, Spread), what came or failed (Store, Failed), what it
// wrote (Writer) and when an entry is over (Release). It asks how an entry may end (Outcomes),
// whether it can have sent a frame (Sends), and what keeps it waiting (Before, Fence). An entry
// whose memory keys were rewritten while it was at work has several readings, linked by Alt, until
// the device shows which one it took.
//
// The package reports only one kind of mismatch, which it alone can see: writes that no set of
// copies can have made, or copies without their writes [D2]. Everything else is the caller's to
// judge. It does not see crossings, receive, doorbells or registers.
//
// Invariants:
//   - At most one read fills a byte of a piece, and each byte of a read fills one byte of one entry.
//   - A search that fails leaves everything as it was.
//   - Where no memory is shared, no record of a read is kept and nothing is allocated.
//
// References in brackets are rules of docs/nic.md.
package attribution
