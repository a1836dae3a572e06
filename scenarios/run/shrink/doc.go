// Package shrink reduces a scenario that fails to the part that makes it fail.
//
// The failure must remain the same: the first finding has the same rule, domain and field, and so has the first one
// of the referees; a case that hangs waits for the same thing. The search leaves out messages first, and sets features
// of the workload, faults and options of the stacks to their defaults, many at a time; then it lowers sizes and numbers
// one by one.
//
// Invariants:
//   - Scenarios are played as the text that their file will have, and the shrunk one was seen to fail with full
//     patience.
//   - An expectation that is not met counts only if the scenario passes on the Go NIC, so that it is the device's
//     fault.
//   - Only a limit of time makes the result depend on the speed of the machine.
package shrink
