// Package memrig holds the common tests of timed memories: for any mem.Target
// that a test can build on an engine they check the protocol of package mem
// (memtest) on our engine and on Akita's, the conservation of bytes, and that
// nothing is allocated in steady state.
//
// It is for tests only, and knows no component.
package memrig
