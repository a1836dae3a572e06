// Package edges finds out whether a design works at falling edges of its clocks. It reads the flat description that
// Verilator makes of a design (--xml-only --flatten), and follows each clock through gates, inverters, latches and
// ports to the edges that processes wait for.
//
// Invariants: a construct that is not understood counts as working at falling edges. The order of the description does
// not matter.
package edges
