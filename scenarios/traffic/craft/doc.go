// Package craft builds frames: a Frame describes one, from tags to checksums, and Build returns its bytes. Fields left
// at zero get correct values; fields that are set may be as wrong as a test needs.
//
// It does not know what a NIC should do with a frame.
//
// Invariant: the same Frame gives the same bytes, and building it does not change it.
package craft
