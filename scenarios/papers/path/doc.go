// Package path has the experiments about paths: which links, cache lines and memory channels a byte crosses. None of
// them needs a NIC with a transport; those that do are in package rdma.
//
//	packets   TLPs that N bytes take on each PCIe link (OP Table 3, section 3.3)
//	duplex    bandwidth of links in one and in both directions (OP Fig. 5b)
//	pminusn   share of the shared channel that a card's own copies may take (OP section 4)
//	skew      random accesses to few addresses; cache and DRAM only, no links (OP Fig. 7)
//	passes    number of times that a received byte crosses DRAM (FN, SN sections 2.3 and 3.3)
//	staged    payload through the Arm on BlueField-3, and the links that it shares (FN, SN section 2.3)
//
// Each file has one experiment: its inputs with their sources, and a function that connects components, runs them and
// records. Traffic is scripted (package requester); memory experiments access cache and DRAM directly.
//
// Invariants:
//   - Measurements come from the components' counters and from the times of completions. Arithmetic on inputs is marked
//     as such.
//   - After every run, as many bytes have left each component as entered it, or the experiment fails.
package path
