// Package memtest holds every mem.Target to the protocol that package mem
// states: memories, and the delays, caches and DRAM models before them.
//
// It knows no time either: the test that calls RunContract says how to let
// time pass.
package memtest
