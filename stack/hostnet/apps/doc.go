// Package apps has the applications of the CEIO study, over stack/hostnet, which check every byte. Each is a client and
// a server, or a source and a sink.
//
//   - Echo: requests of one packet, answered with the same bytes or the first of them, from the receive buffer
//     (CPU-involved).
//   - KV: a key-value store in the server's memory; lookups are loads and stores of its core (CPU-involved).
//   - Chunks: large messages in the manner of LineFS. They land in receive buffers one behind another, are copied into
//     a file, and are answered once (CPU-bypass).
//   - VXLAN: datagrams of 64 B in VXLAN (RFC 7348). They are parsed, counted by network and dropped: nothing answers,
//     forwards or repairs them.
//
// Bytes come from pattern, a function of seed, message and offset. The package knows flows and cores, but neither NICs
// nor boards. Checks beyond the loads that an application's work needs cost no time: Peek reads memory beside the
// simulation.
package apps
