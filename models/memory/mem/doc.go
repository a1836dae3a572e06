// Package mem is memory behind one access protocol, with time or without.
//
// Sparse holds the bytes of one memory. Space holds the memories of both
// endpoints by bus address [P1], and tells who watches a range of every write
// to it. Both are a Target that completes an access at once. A model with time
// (a delay, a cache, a DRAM) is a Target over another Target that completes
// accesses later; package memtest holds all of them to what follows.
//
// This package knows no time: how long an access takes, and whether a device
// may touch an address, are questions for others.
//
// The protocol:
//   - A Target ends each access exactly once, by Finish, during Access or later.
//     Until then the access and its Data belong to the Target: whoever issued it
//     neither changes nor copies it. Only then may it be used for another one.
//   - Writes, Cleans and Invalidates take effect in the order in which they
//     were issued, wherever they go, and before their Done. Whoever sees a
//     write sees all earlier ones.
//   - A read returns every write to its bytes that was issued before it. It may
//     or may not see what was issued between its Access and its Done, but
//     nothing issued later. Reads may complete in any order.
//   - Clean and Invalidate act on every line of LineBytes that their range
//     touches, whole. After a Clean the memory behind every cache has what was
//     written before it. An Invalidate drops lines without write-back: bytes
//     written since the last Clean may go back to what they were then, or stay;
//     where there is no cache, they stay.
//   - A core's writes to consecutive lines may be one access, a run, where a
//     Target is a Runner. They are as good as one access for each line.
//   - Agent By says who accesses. It decides where bytes are kept, never what
//     they are.
//   - An access that does not lie inside memory fails with an error that wraps
//     ErrNoMemory, names its address and length, and changes nothing. Check
//     gives that error without an access, at once and always the same.
package mem
