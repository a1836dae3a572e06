// Package memtest checks a mem.Target against the protocol stated in package
// mem: memories, and the delays, caches and DRAM models before them.
//
// It knows no time either: the test that calls RunContract says how to let
// time pass.
package memtest
