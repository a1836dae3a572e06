// Package offloads has the checks of computations over frames: checksums [T7, T8], CRC-32C [X], ECN marks
// [E], appended trailers [T15] and trimming [R14], in either direction.
//
// Invariants:
//   - Every expected value is computed independently, from the bytes given to the device.
package offloads
