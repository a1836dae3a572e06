// Package wiretap records the frames on the cables of a rack in one pcapng file: an interface per cable and
// direction, timestamps of simulated time in nanoseconds.
//
// A frame is stamped when it has crossed its cable; in a network with faults, when it reaches them, and a comment
// says what they did to it. Its bytes are those that were sent: neither changes by faults nor duplicates are in the
// file. Frames that a cable adds (inject.Insert) are stamped where they are added.
//
// It judges nothing and does not affect the run: it only listens to existing links and decorators.
//
// Invariants:
//   - Packets are in timestamp order, although devices that run ahead of the engine send out of order.
//   - The same run gives the same bytes.
//   - The file stays within its limit; packets that no longer fit are counted.
package wiretap
