// Package host is the other end of the NIC's PCIe port in its simplest form: Arm memory and host memory behind one
// root that answers reads, takes writes, and reads and writes the NIC's registers for a driver.
//
// It is a memory with a latency, not a model of the card: switch, cache and DRAM are components of their own. It
// judges nothing either: whether the NIC may touch an address is the referee's question.
//
// Invariants:
//   - A read sees every write that arrived before its data is fetched. Completions of one read leave in address
//     order; those of different reads in the order of their due times, which jitter may shuffle.
//   - Register accesses leave in the order in which they were asked for.
//   - An access outside a memory is never lost silently: reads are answered with UR, writes are counted.
//   - The same Spec and traffic give the same answers; jitter comes from the seed alone.
package host
