// Package tlb is the translation look-aside buffer of a core, and the walks
// through page tables that its misses cost. It is a mem.Target over a
// mem.Target, between a core and its private cache.
//
// Addresses mean the same on both sides: what a translation costs is modelled,
// not what it yields. A walk is a chain of reads of page-table entries, as many
// as there are levels above a page of that size, through the same memory as the
// core's own accesses; so entries of upper levels are soon in caches, and those
// of a large range with small pages are not.
//
//   - An access whose pages are all known goes on at once, unless an earlier one
//     waits.
//   - Others wait for their walks, Walkers of which go on at a time; accesses go
//     on in the order in which they came.
//
// What is missing: a level 1 before it, caches of upper levels of its own, dirty
// and accessed bits, shoot-downs. Devices do not use it: nothing is said here of
// an IOMMU.
//
// Invariants:
//   - The protocol of package mem, whatever stands behind.
//   - Bytes accepted are bytes that went on and bytes held.
//   - Nothing is allocated per access, once the TLB has seen as many at a time
//     as it will.
//
// Where the presets come from: entries are those of the level 2 TLB for pages of
// that size as public descriptions of the parts give them; two walkers (hosts),
// one (Arm): all of that is an assumption, for the papers have none.
package tlb
