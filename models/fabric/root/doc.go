// Package root is a root complex: the other end of the NIC's PCIe port. It
// completes the NIC's reads and takes its writes, over a mem.Target, and reads
// and writes the NIC's registers (MMIO) for software.
//
// It has no memory of its own: the builder is given a mem.Space that completes
// accesses at once, or a delay, cache or DRAM model in front of it. It does not
// check whether the NIC may access an address: the referee does. Faults, jitter
// and back-pressure come from decorators of package inject, in the link or in
// front of the memory. Outbound gives the root's processor access to memory
// behind a switch.
//
// Invariants:
//   - Writes access memory in the order in which the NIC's TLPs arrived, and so
//     do reads, Latency later. A read therefore sees every write that arrived
//     before it.
//   - While memory is full (a mem.Holder), TLPs stay in the port.
//   - Completions of one read leave in address order; those of different reads
//     as memory delivers the data. A memory that completes accesses at once
//     yields them in the order of their reads.
//   - Register accesses leave in the order in which they were requested.
//   - Completions and messages of the NIC reach software when memory has taken
//     the writes that arrived before them.
//   - An access outside memory is never lost silently: reads are answered with
//     UR, writes are counted by the memory.
//   - The same Spec, memory and traffic give the same events.
package root
