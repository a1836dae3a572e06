// Package rtlbridge is a device under test written in RTL, seen from Go.
//
// A manifest (dut.yaml) says which files make the device and how its pins form streams; Build verilates and compiles it
// together with the harness in verilator/harness; Launch starts it as a child on a socket pair, Dial reaches one that is
// already running; Conn speaks the protocol of docs/bridge.md; Comp is an Akita component whose ports are the device's
// streams and which advances the device quantum by quantum.
//
// It is not a simulator and knows no device: no register, descriptor or packet format appears here. What a stream carries
// is told by the caller's Binding.
//
// Invariants:
//   - Every crossing has the cycle at which it happened on the pins; cycles depend on the inputs, their stamps and the seed,
//     never on the quantum, the mode (serial or pipelined), the machine or the wall clock.
//   - A device that dies, hangs, floods or speaks nonsense ends in an *InfraError with its last words, never in a hang.
//   - Nothing generated is written to the source tree; builds live in a content-addressed cache.
package rtlbridge
