// Package shrink reduces the input of a replay that fails to the packets that it needs.
//
// The failure must remain the same: the first finding has the same rule, domain and field; a NIC that hangs stops in
// the same phase, with the same work outstanding. Packets keep their bytes and times of capture. The
// search drops the packets after the first finding, then more and more of the earlier ones, and resets settings.
//
// Invariants:
//   - The shrunk input is played as files, as its user will, and was seen to fail with full patience.
//   - Only a limit of time makes the result depend on the speed of the machine.
package shrink
