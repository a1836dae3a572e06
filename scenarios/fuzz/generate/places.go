package generate

import "nictwin/models/nic/nicspec"

// Places of the RTL NIC that the contract does not count (docs/rtl.md): strategies fill each to the last. A NIC that
// has others is played as well, and is not filled so exactly.
const (
	outBeats    = 512 // transmit buffer of a port, beats of 64 B
	outFrames   = 64  // frames in it
	outPassing  = 4   // beats that have been read from it and wait at the port
	gatherSlots = 256 // frames in the gather buffer of a port
	gatherLines = 512 // lines of 128 B there
	laneEntries = 16  // entries before it
	fetchSlots  = 64  // reads of work entries
	entryBlocks = 4   // blocks that one of them brings
	copyJobs    = 16  // entries of a copy channel
	readTags    = 256 // [P2]
	answers     = 512 // answers to reads of registers
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
