package generate

import "nictwin/models/nic/nicspec"

// Sizes inside the RTL NIC that the contract does not specify (docs/rtl.md): strategies fill each to the last place.
// A NIC of other sizes can be played too, but is not filled as exactly.
const (
	outBeats    = 512 // transmit buffer of a port, beats of 64 B
	outFrames   = 64  // frames in it
	outPassing  = 4   // beats read from it that wait at the port
	gatherSlots = 256 // frames in the gather buffer of a port
	gatherLines = 512 // lines of 128 B there
	laneEntries = 16  // entries in a lane before it
	fetchSlots  = 64  // reads of work entries
	entryBlocks = 4   // blocks fetched by each of them
	copyJobs    = 16  // entries of a copy channel
	readTags    = 256 // [P2]
	answers     = 512 // of register reads
)

// Of frames in a buffer.
const (
	beatBytes    = 64
	lineBytes    = 128
	longestBeats = nicspec.FrameMax / beatBytes
	rxLineBytes  = 64                                                    // [R3]
	rxLines      = nicspec.RxBufBytes / rxLineBytes                      // of a receive buffer
	rxSureLines  = (nicspec.RxBufBytes - nicspec.FrameMax) / rxLineBytes // that are never refused
)
