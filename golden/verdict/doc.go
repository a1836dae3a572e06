// Package verdict records the referee's findings: mismatches with their subject and the latest
// crossings of their domain, notes on what is not the device's fault, and how often one of the
// referee's own bounds kept it from judging. It names the pair of blocks, in Go and in RTL, that a
// rule and a field point to.
//
// It judges nothing: the rules are those of package golden, which reports each crossing and each
// fault to it.
//
// Invariants:
//   - A mismatch has the cycle of the crossing that showed it, its domain (a queue, a port, the
//     registers, the counters, or the device where none can be named), and both values as text.
//   - Every mismatch is counted by kind; a limited number is kept in full.
//   - Keeping the crossings allocates nothing.
package verdict
