// Package dutnew writes a first device manifest from the ports of a module: clocks, resets, AXI ports, packet
// streams, records and remaining ports, by the names and directions that designs usually give them.
//
// It reads no sources and knows no tool: ports come from the bridge. What a port does not show is guessed, and a
// comment on the line says so.
//
// Invariant: the manifest fits the ports it was made from, unless a port is of a kind that manifests do not support
// (inout, unpacked arrays).
package dutnew
