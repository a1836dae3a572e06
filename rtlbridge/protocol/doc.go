// Package protocol is the protocol between a client and a device process (docs/bridge.md): frames, records and the
// digest, as values and as bytes. It knows no sockets, no processes and no manifests: what is sent to whom, and when,
// rtlbridge decides.
//
// Invariants: encoders append to a buffer and never change their input. Decoders check each length against the frame
// before they use it, never panic, and say of a fault which frame, what was wrong and what would be right. Order holds
// records to the times that docs/bridge.md gives them.
package protocol
