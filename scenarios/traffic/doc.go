// Package traffic plays frames into a NIC's Ethernet ports and takes what comes out.
//
// A Player is the far end of a cable: it is plugged into an open port of a card (models/board) and plays a Track, which
// is a Source of frames and the Pace at which they follow one another. Where frames come from is in traffic/capture
// (files) and traffic/craft (made for a purpose).
//
// It has no opinion on what a NIC should do with a frame.
//
// Invariant: the same track gives the same frames at the same times, whatever comes out of the NIC.
package traffic
