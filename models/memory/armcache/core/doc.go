// Package core is the function of a last-level cache, apart from time: tags, bytes, replacement,
// and a step function whose outcome names the line to be fetched and the line to be written back.
//
// The bytes are real: a line that was written and not written back exists only here. If it is
// invalidated too early, a read returns the stale bytes of memory.
//
// The rules, for one line at a time:
//   - Reads and writes of cached bytes are hits, for any agent. A write that hits leaves the line
//     dirty in the cache, even if its agent may not allocate.
//   - A core's read or write that misses allocates in any way. A device's write that misses
//     allocates in the ways of DeviceWays only, or goes to memory if there are none; a device's
//     read that misses goes to memory.
//   - A write of a whole line needs no fetch. A partial write takes effect at once and has the rest
//     of the line fetched; each line knows which of its bytes it has, so a later fetch never
//     overwrites newer bytes.
//   - A line whose fetch is in flight is not evicted, cleaned or invalidated: the step is Stalled
//     until the Fill.
//   - The victim is the first empty way; in a full set, the policy selects a way that is not
//     being fetched; the bytes of a dirty victim go to the caller.
//   - A Stalled step has changed nothing, not even a counter.
//
// Lines are found by a directory of addresses, not by the tags of a set, and neighbours in memory
// lie side by side, whatever their sets: this makes the simulator faster and does not change the
// outcome.
//
// The bounds on fetches and write-backs in flight, the waiting for them and all timing are in
// package armcache.
package core
