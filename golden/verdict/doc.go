// Package verdict is what the referee writes down: mismatches with what is concerned and the latest crossings of their
// domain, notes of what is not the device's fault, and how often a bound of the referee's own kept it from judging. It
// names the pair of blocks, in Go and in RTL, that a rule and a field point to.
//
// It judges nothing: the rules are those of package golden, which tells it of each crossing and each fault.
//
// Invariants: a mismatch has the cycle of the crossing that showed it, its domain (a queue, a port, the registers, the
// counters, or the device where none can be named), and both values as text. Each is counted by kind, however many
// there are; only so many are kept in full. Keeping the crossings allocates nothing.
package verdict
