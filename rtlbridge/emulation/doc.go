// Package emulation puts a shell around a device: RTL that any FPGA can hold, which moves the device's pins as the
// bridge does and speaks with the host over a pair of byte streams (docs/emulation.md). It writes the shell's top
// module for a manifest, and builds the two programs of the link `sim`: the agent, which takes the place of the
// device's program in a session, and the board, which is shell and device verilated together.
//
// The blocks of the shell are in verilator/shell, the agent in verilator/shell/agent. Here is only what depends on the
// manifest: widths, names, couplings, the layout of messages.
//
// Invariants: the text of a shell depends on the manifest, the design's ports and the options alone. What a shell
// cannot carry is refused with the manifest's line.
package emulation
