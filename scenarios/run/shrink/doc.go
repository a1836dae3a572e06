// Package shrink reduces a scenario that fails to the part that it needs.
//
// The failure must remain the same: the first finding has the same rule, domain and field, and so has the first one
// of the referees; a case that hangs waits for the same. Messages go first, and features of the workload, faults and
// options of the stacks return to their defaults, many at a time; then sizes and numbers are lowered one by one.
//
// Invariants:
//   - Scenarios are played as the text that their file will have, and the shrunk one was seen to fail with full
//     patience.
//   - An expectation that is not met counts only if the scenario passes on the Go NIC: it is the device's fault.
//   - Only a limit of time makes the result depend on the speed of the machine.
package shrink
