// Package memrig is what the tests of timed memories have in common: any
// mem.Target that a test can build on an engine is held to the protocol of
// package mem (memtest) on our engine and on Akita's, to the conservation of
// bytes, and to no allocation in steady state.
//
// It is for tests only, and knows no component.
package memrig
