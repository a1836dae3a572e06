// Package ring keeps the order of a flow's packets over two receive rings (CEIO section 4.2): a fast one, whose buffers
// are in host memory, and a slow one, whose buffers are in the NIC's memory until a DMA copies them to the host.
//
// The ring has two producers, the rings of the NIC, and one consumer, the application. An entry is one bit, fast or
// slow: the n-th fast entry is the n-th packet of the fast ring, so that no packet needs metadata and nothing is
// sorted. Merger decides which of the two rings has the next packet.
//
// Four positions move on their own:
//   - the tail, when a packet of either ring is appended;
//   - the head, when a packet is handed over to the application;
//   - the fast head, when the application has processed fast packets, whose credits come back then;
//   - the slow head, when the DMA of slow packets has ended.
//
// The package is pure: it knows neither time nor memory.
//
// Invariants: packets are handed over in the order of appending, each once, a slow one never before its DMA has ended.
package ring
