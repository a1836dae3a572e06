// Package rtlbridge is a device under test written in RTL, seen from Go.
//
// Package manifest reads what the device is (dut.yaml), package build makes a program of it and of the harness in
// verilator/harness. Here, Launch starts that program as a child on a socket pair, Dial reaches one that is already
// running; Conn speaks the protocol of docs/bridge.md, whose frames are those of package protocol; Comp is an Akita
// component whose ports are the device's streams and which advances the device quantum by quantum.
//
// It is not a simulator and knows no device: no register, descriptor or packet format appears here. What a stream
// carries is defined by the caller's Binding.
//
// Invariants:
//   - Every crossing has the cycle at which it happened on the pins; cycles depend on the inputs, their stamps and the
//     seed, never on the quantum, the mode (serial or pipelined), the machine or the wall clock.
//   - A device that dies, hangs, floods or sends invalid frames causes a *protocol.InfraError with its last output,
//     never a hang.
package rtlbridge
