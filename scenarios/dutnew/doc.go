// Package recognise writes a first device manifest from the ports of a module: clocks, resets, AXI ports, packet
// streams, records and what is left over, by the names and directions that designs usually give them.
//
// It reads no sources and knows no tool: ports come from the bridge. What it cannot see in a port it guesses, and says
// so in a comment on the line.
//
// Invariant: what it writes is a manifest that fits the ports it was made from, unless a port is of a sort that no
// manifest has (inout, unpacked arrays).
package dutnew
