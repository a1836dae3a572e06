// Package root is a root complex: the other end of the NIC's PCIe port. It
// completes the NIC's reads and takes its writes, over a mem.Target, and reads
// and writes the NIC's registers (MMIO) for software.
//
// It has no memory of its own: a mem.Space that completes accesses at once, or
// a delay, cache or DRAM model before it, is given to the builder. It judges
// nothing: whether the NIC may touch an address is the referee's question.
// Faults, jitter and back-pressure come from package inject, which stands in
// the link or before the memory. Outbound is the way from the root's processor to
// memory behind a switch.
//
// Invariants:
//   - Accesses to memory are issued in the order in which the NIC's TLPs came;
//     those of reads Latency later. A read therefore sees every write that came
//     before it.
//   - While memory is full (a mem.Holder), TLPs stay in the port.
//   - Completions of one read leave in address order; those of different reads
//     as memory brings the data. A memory that completes accesses at once gives
//     them in the order of their reads.
//   - Register accesses leave in the order in which they were asked for.
//   - Completions and messages of the NIC are told of when memory is done with
//     the writes that came before them.
//   - An access outside memory is never lost silently: reads are answered with
//     UR, writes are counted by the memory.
//   - The same Spec, memory and traffic give the same events.
package root
