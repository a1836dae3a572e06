// Package boundary is what an observer of a NIC sees: every crossing of its
// boundary, with the cycles at which it happened, when its pin busy was 0, and
// when a stream stood still for want of the other side.
//
// It is the one vocabulary of the Go NIC, of a device behind the bridge and of
// whoever watches either. It holds no logic and judges nothing.
//
// Invariants:
//   - A crossing is reported once, at its last beat. Crossings of one device
//     are reported in the order of their Last cycles, inputs before outputs
//     within one cycle.
//   - A rest is reported once all crossings up to its Last cycle were, and
//     before any that ends later.
//   - Held times of a stream are reported in order. All held cycles before the
//     Last of a crossing are reported before it, and none later than those.
//   - Frame and TLP belong to the device: they, and the bytes they point to,
//     are good until the observer returns.
package boundary
