// Package path has the experiments about paths: which link, cache line and
// memory channel a byte crosses. None of them needs a NIC with a transport;
// those that do are in package rdma.
//
//	packets   what crosses each PCIe link for N bytes (OP Table 3, section 3.3)
//	duplex    what links carry in one and in both directions (OP Fig. 5b)
//	pminusn   how much of the shared channel a card's own copies may take (OP section 4)
//	skew      random accesses to few addresses (OP Fig. 7), at the memory
//	passes    how often a received byte crosses DRAM (FN, SN sections 2.3 and 3.3)
//	staged    payload by way of the Arm on BlueField-3: who shares which link (FN, SN section 2.3)
//
// Each file has one experiment: its inputs with their sources, and a function
// that puts components together, runs them and records. Traffic is scripted
// (package requester); memory experiments speak to cache and DRAM themselves.
//
// Invariants:
//   - What is recorded is read from the components' counters and from the time of
//     completions. Arithmetic on inputs is marked as such.
//   - Books are balanced after every run, or the experiment fails.
package path
