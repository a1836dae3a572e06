package ether

// Lengths in bytes, without FCS, of the shortest and the longest frame that a device must accept
// (docs/nic.md, Ethernet ports).
const (
	MinLen = 60
	MaxLen = 9216
)

// MaxOffered is the length in bytes of the longest frame that may be offered to a device. No device accepts a frame
// of that length, and captures hardly contain one.
const MaxOffered = 1 << 18

// WireOverhead is the number of bytes that a frame occupies on the wire beyond its data: preamble
// and start of frame 8, FCS 4, shortest gap 12 (IEEE 802.3, clause 4).
const WireOverhead = 24

// Frame is one Ethernet frame.
type Frame struct {
	Port  int    // Ethernet port, from 0
	Queue int    // transmit queue; -1 on receive
	Data  []byte // from the destination address on, no FCS

	// Trim is the number of bytes by which the frame's size on the wire is smaller than that of an
	// Ethernet frame with this Data, overhead included: the packet may have another framing there,
	// such as InfiniBand's. It is 0 for Ethernet.
	Trim int
}
