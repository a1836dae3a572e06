// Package boundary defines what an observer of a NIC sees: every crossing of its boundary with its
// cycles, the intervals in which its busy pin was 0, and those in which a stream was held up by the
// other side.
//
// The Go NIC, a device behind the bridge and their observers share these types. The package holds
// no logic and judges nothing.
//
// Invariants:
//   - A crossing is reported once, at its last beat. Crossings of one device are reported in the
//     order of their Last cycles, inputs before outputs within one cycle.
//   - A Rest is reported after all crossings up to its Last cycle, and before any that ends later.
//   - Held intervals of a stream are reported in order. All held cycles before the Last of a
//     crossing are reported before it, and none later than those.
//   - Frame and TLP belong to the device: they, and the bytes they point to, are valid until the
//     observer returns.
package boundary
