// Package order implements PCIe's ordering table (PCIe 2.4.1, table 2-40) and a queue that obeys it: which
// TLP may pass which on the same link, in one direction.
//
// Queue has no bound, no credits and no time of its own: its user says through a Gate which TLPs
// can leave.
//
// Supported: posted requests (memory writes, messages), memory reads, completions, and the relaxed
// ordering bit. ID-based ordering (attribute bit 2) is not supported: such a TLP keeps the order of
// one without the bit, which the table permits. Non-posted requests with data (row and column of
// the table for I/O and configuration writes and AtomicOps) do not exist here: package tlp refuses
// them. Only one traffic class is in use, so TLPs of different traffic classes keep the same rules.
//
// Invariants:
//   - Queue never lets a TLP pass one that it must not pass, and lets it pass wherever the table
//     says that it must be able to.
//   - Among the TLPs that may leave, the oldest leaves first.
//   - The queue allocates only when it grows.
package order
