// Package apps has the applications of the CEIO study, over stack/hostnet: each a client and a server, or a source and a
// sink, that check every byte.
//
//   - Echo: requests of one packet, answered with the same bytes, from the receive buffer (CPU-involved).
//   - KV: a key-value store in the server's memory; lookups are loads and stores of its core (CPU-involved).
//   - Chunks: large messages in the manner of LineFS, which land in receive buffers one behind another, are copied into a
//     file, and are answered once (CPU-bypass).
//   - VXLAN: datagrams of 64 B in VXLAN (RFC 7348), parsed and counted by network; nothing repairs them.
//
// Bytes come from pattern, a function of seed, message and offset. The package knows flows and cores, but neither NICs
// nor boards. What a server checks beyond the loads that its work needs costs no time: Peek reads memory beside the
// simulation.
package apps
