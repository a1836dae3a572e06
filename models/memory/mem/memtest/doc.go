// Package memtest checks a mem.Target against the protocol stated in package mem: memories, and the
// delays, caches and DRAM models in front of them.
//
// It knows no time: the test that calls RunContract provides a function that advances it.
package memtest
