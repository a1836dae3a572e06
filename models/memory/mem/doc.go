// Package mem is memory behind one access protocol, with time or without.
//
// Sparse holds the bytes of one memory. Space holds the memories of both
// endpoints by bus address [P1], and notifies the watchers of a range of every
// write to it. Both are Targets that complete an access at once. A model with
// time (a delay, a cache, a DRAM) is a Target over another Target and completes
// accesses later; package memtest checks all of them against this protocol.
//
// This package knows no time: how long an access takes, and whether a device
// may access an address, is decided elsewhere.
//
// The protocol:
//   - A Target ends each access exactly once, by Finish, during Access or later.
//     Until then the access and its Data belong to the Target: the initiator
//     neither changes nor copies it. Only then may it be reused.
//   - Writes, Cleans and Invalidates take effect in the order in which they
//     were issued, to whatever address, and before their Done. An observer that
//     sees a write sees all earlier ones.
//   - A read returns every write to its bytes that was issued before it. It may
//     or may not see writes issued between its Access and its Done, but none
//     issued later. Reads may complete in any order.
//   - Clean and Invalidate act on every line of LineBytes that their range
//     touches, whole. After a Clean the memory behind every cache has everything
//     written before it. An Invalidate drops lines without write-back: bytes
//     written since the last Clean may revert to what they were then, or stay;
//     where there is no cache, they stay.
//   - A core's writes to consecutive lines may be one access, a run, where a
//     Target is a Runner. They are equivalent to one access for each line.
//   - Access.By is the kind of initiator. It affects where bytes are cached, never
//     their values.
//   - An access that does not lie inside memory fails with an error that wraps
//     ErrNoMemory, names its address and length, and changes nothing. Check
//     returns the same error at once, without an access.
package mem
