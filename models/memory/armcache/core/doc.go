// Package core is the function of a last-level cache, apart from time: tags,
// bytes, replacement, and a step function that says what must be fetched from
// memory and what goes back to it.
//
// The bytes are real: a line that was written and not written back exists here
// only, so whoever invalidates it too early reads what memory has, stale.
//
// The rules, for one line at a time:
//   - Reads and writes of bytes that are here are hits, whoever asks. A write
//     that hits stays here, dirty, even if its agent may not allocate.
//   - A core's read or write that misses allocates in any way. A device's write
//     that misses allocates in the ways of DeviceWays only, or goes to memory if
//     there are none; a device's read that misses goes to memory.
//   - A write of a whole line needs no fetch. A write of a part takes effect at
//     once and has the rest of the line fetched; each line knows which of its
//     bytes it has, so a fetch that comes later never overwrites newer bytes.
//   - A line whose fetch is under way is not evicted, cleaned or invalidated:
//     the step is Stalled until the Fill.
//   - A victim is the first empty way, else the one that the policy names among
//     those whose fetch is over; if dirty, its bytes go to the caller.
//   - A step that is Stalled has changed nothing, not even a counter.
//
// Lines are found by a directory of addresses, not by the tags of a set, and
// those that are neighbours in memory lie side by side, whatever their sets: it
// is faster on the computer that this runs on, and the outcome is the same.
//
// It is not the whole cache: how many fetches and write-backs may be under way,
// what waits for them and how long all of it takes is in package armcache.
package core
