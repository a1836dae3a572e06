package ether

// Frame lengths without FCS, in bytes, that a device must take (contract,
// Ethernet ports).
const (
	MinLen = 60
	MaxLen = 9216
)

// MaxOffered is the longest frame that is offered to a device, in bytes: longer than any that it
// accepts, and than any capture is likely to hold.
const MaxOffered = 1 << 18

// WireOverhead counts the bytes that a frame occupies on the wire beyond its data: preamble and
// start of frame 8, FCS 4, shortest gap 12 (IEEE 802.3, clause 4).
const WireOverhead = 24

// Frame is one Ethernet frame.
type Frame struct {
	Port  int    // Ethernet port, from 0
	Queue int    // transmit queue; -1 on receive
	Data  []byte // from the destination address on, no FCS

	// Trim is the number of bytes by which the frame's wire size, overhead included, is smaller
	// than Data says, because the packet that it represents is in another framing there
	// (InfiniBand's). 0 for Ethernet.
	Trim int
}
