// Package wiretap records what crosses the cables of a rack, as one pcapng file: an interface for each cable and
// direction, stamps of simulated time in nanoseconds.
//
// A frame is stamped when it has crossed its cable; where the network has faults, when it has come to them, and a
// comment says what they did to it. Its bytes are those that were sent: what faults change is not in the file, nor is
// a copy that they make.
//
// It judges nothing, and has no say in the run: it listens to links and decorators that are there.
//
// Invariants:
//   - Packets stand in the order of their stamps, although devices that run ahead of the engine send out of it.
//   - The same run gives the same bytes.
//   - The file keeps to its limit; what no longer fits is counted.
package wiretap
