// Package traffic plays frames into a NIC's Ethernet ports and receives the frames that come out.
//
// A Player is the far end of a cable: it is plugged into an open Ethernet port of a card (models/board) and plays a
// Track, which is a Source of frames and the Pace at which they follow one another. A Supply reads captures for the
// ports of a NIC and makes a Playlist for each, which is a Source; Turns mixes the playlists for one sender. Package
// traffic/capture reads capture files; traffic/craft builds frames with given properties.
//
// It knows no device and does not say what a NIC should do with a frame.
//
// Invariants:
//   - The same tracks give the same frames at the same times, whatever comes out of the NIC.
//   - Memory does not depend on how many frames are played: captures are read as they are played.
//   - Nothing of a supply is played if one of its captures is damaged.
package traffic
