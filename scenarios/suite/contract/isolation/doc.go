// Package isolation has the checks that whatever happens to one queue or port leaves the others alone: failures,
// floods, fairness between ports, all queues at once, and random programs.
//
// Invariants:
//   - Background traffic runs on other queues, and all of it must arrive.
//   - Random programs come from fixed seeds.
package isolation
