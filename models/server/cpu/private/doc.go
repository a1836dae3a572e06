// Package private is the private cache of a core: its levels 1 and 2 as one,
// before the cache or memory that the cores share. It is a mem.Target over a
// mem.Target.
//
// It keeps tags only. The bytes stay in the memory behind, which all agents
// share, so this cache can never return stale bytes; it only decides which reads
// are fast:
//   - A core's read whose lines are all here is done HitLatency later, and does
//     not reach the memory behind.
//   - Any other read goes to the memory behind; if it is the core's, its lines are
//     then cached here.
//   - Writes go to the memory behind at once (write-through); the lines of the
//     core's own are then cached here, too.
//   - A write by any other agent removes its lines from here when it takes
//     effect, so a core that polls a line misses once after a device has written
//     it. Domain notifies the caches.
//   - Memory whose writes are not reported (Builder.Uncached: behind PCIe) is not
//     cached: every access goes there.
//
// Not modelled: ownership, so cores that alternately write to one line pay only
// for their writes; a separate level 1; prefetching.
//
// Invariants:
//   - It keeps the protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes finished + bytes held.
//   - A line written by another agent since it was fetched is not here.
//   - Nothing is allocated per access, once the cache has reached its largest
//     number of accesses in flight.
//
// Sources of the presets: sizes of level 2 in public descriptions of the parts,
// and the latency of a level 2 at the part's clock; all of these are
// assumptions, as the papers give none.
package private
