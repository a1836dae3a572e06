// Package craft makes frames: a Frame says what is in one, from tags to checksums, and Build makes its bytes. What a Frame
// does not say is right; what it does say may be as wrong as a test wants it.
//
// It knows how to make frames, not what a NIC should do with them.
//
// Invariant: the same Frame gives the same bytes, and building it does not change it.
package craft
