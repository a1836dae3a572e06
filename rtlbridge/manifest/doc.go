// Package manifest reads a device's description for the bridge (dut.yaml, docs/bridge.md): its sources, clocks, resets,
// streams and tie-offs, and binds these to the ports of its top module. It runs no tool and builds nothing:
// rtlbridge/build does.
//
// Invariants: a Manifest returned by Parse or Load is valid, and abbreviations of the file (AXI ports, lanes, ranges)
// are expanded in it. All faults are reported at once, with the file's name and line, the field, and what would be
// right.
package manifest
