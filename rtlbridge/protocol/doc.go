// Package protocol is the protocol between a client and a device process (docs/bridge.md): frames, records and the
// digest, as values and as bytes. It knows no sockets, no processes and no manifests: rtlbridge decides what is sent to
// whom, and when.
//
// Invariants: encoders append to a buffer and never change their input. Decoders check each length against the frame
// before they use it, never panic, and name the frame, the fault and the right value in errors. Order checks that
// records come in cycle order and inside their quantum (docs/bridge.md).
package protocol
