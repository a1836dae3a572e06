// Package tlb is the translation look-aside buffer of a core, and the walks
// through page tables that its misses cost. It is a mem.Target over a
// mem.Target, between a core and its private cache.
//
// Addresses are the same on both sides: the cost of a translation is modelled,
// not its result. A walk is a chain of reads of page-table entries, one for each
// level above a page of that size, through the same memory as the core's own
// accesses; so entries of upper levels are soon in caches, and those of a large
// range with small pages are not.
//
//   - An access whose pages are all cached continues at once, unless an earlier
//     one waits.
//   - Others wait for their walks, at most Walkers at a time; accesses continue
//     in order of arrival.
//
// Not modelled: a level 1 TLB, walk caches for upper levels, dirty and accessed
// bits, shoot-downs. Devices do not use it, and an IOMMU is not modelled.
//
// Invariants:
//   - It keeps the protocol of package mem, whatever memory lies behind.
//   - Bytes accepted = bytes passed on + bytes held.
//   - Nothing is allocated per access, once the TLB has reached its largest
//     number of accesses in flight.
//
// Sources of the presets: entries of the level 2 TLB for pages of that size in
// public descriptions of the parts; two walkers (hosts), one (Arm): all of these
// are assumptions, as the papers give none.
package tlb
