// Package private is the private cache of a core: its levels 1 and 2 as one,
// before the cache or memory that the cores share. It is a mem.Target over a
// mem.Target.
//
// It keeps tags only. The bytes are those of the memory behind, which all agents
// share, so this cache can never be wrong about them; what it decides is which
// reads are fast:
//   - A core's read whose lines are all here is done HitLatency later, and does
//     not reach the memory behind.
//   - Any other read goes there, and a core's brings its lines here.
//   - Writes go there at once (write-through), and a core's brings its lines.
//   - When a write of anybody else takes effect, its lines are gone from here:
//     so a core that polls a line misses once after a device has written it.
//     Domain tells the caches of it.
//   - Of memory that nobody tells it of (Builder.Uncached: behind PCIe), it keeps
//     nothing: every access goes there.
//
// What is missing: ownership, so cores that write to one line in turn pay no
// more than for their writes; a level 1 of its own; prefetching.
//
// Invariants:
//   - The protocol of package mem, whatever stands behind.
//   - Bytes accepted are bytes finished and bytes held.
//   - A line that somebody else wrote after it came is not here.
//   - Nothing is allocated per access, once the cache has seen as many at a time
//     as it will.
//
// Where the presets come from: sizes are those of level 2 as public descriptions
// of the parts give them, the latency is a level 2's at the part's clock; all of
// that is an assumption, for the papers have none.
package private
