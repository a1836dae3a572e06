// Package manifest reads what a device is to the bridge (dut.yaml, docs/bridge.md): its sources, clocks, resets,
// streams and tie-offs, and binds these to the ports that its top module has. It runs no tool and builds nothing:
// rtlbridge/build does.
//
// Invariants: a Manifest that Parse or Load gave is valid, and what was short in the file (AXI ports, lanes, ranges)
// is written out in it. Every fault is told at once, with the file's name and line, the field, and what would be
// right.
package manifest
