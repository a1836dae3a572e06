// Package craft makes frames: a Frame describes one, from tags to checksums, and Build returns its bytes. Whatever a
// Frame leaves open is made right; whatever it sets may be as wrong as a test wants.
//
// It makes frames and does not know what a NIC should do with them.
//
// Invariant: the same Frame gives the same bytes, and building it does not change it.
package craft
