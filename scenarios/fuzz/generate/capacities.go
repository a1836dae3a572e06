package generate

import "nictwin/models/nic/nicspec"

// Capacities of the RTL NIC that the contract does not specify (docs/rtl.md). Fillings use them to fill each buffer to
// its last place; a NIC of other sizes is played, too, but not filled as exactly.
const (
	outBeats    = 512 // 64 B beats in a port's transmit buffer
	outFrames   = 64  // frames in a port's transmit buffer
	outPassing  = 4   // beats between transmit buffer and port
	gatherSlots = 256 // frames in a port's gather buffer
	gatherLines = 512 // 128 B lines in a port's gather buffer
	laneEntries = 16  // entries in a port's lane in front of the gather buffer
	fetchSlots  = 64  // reads of work entries in flight
	entryBlocks = 4   // blocks fetched by one read of work entries
	copyJobs    = 16  // entries in a copy channel
	readTags    = 256 // tags for the NIC's reads [P2]
	answers     = 512 // pending completions of register reads
)

// Units in which frames occupy buffers.
const (
	beatBytes    = 64
	lineBytes    = 128
	longestBeats = nicspec.FrameMax / beatBytes
	rxLineBytes  = 64                                                    // [R3]
	rxLines      = nicspec.RxBufBytes / rxLineBytes                      // lines in a receive buffer
	rxSureLines  = (nicspec.RxBufBytes - nicspec.FrameMax) / rxLineBytes // lines that fill without a drop
)
