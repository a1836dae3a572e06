package rpc

import (
	"encoding/binary"
	"fmt"
)

// Sizes of headers in bytes, and the packets that the map of an acknowledgement covers.
const (
	DataBytes = 16
	AckBytes  = 52
	MapBits   = 256
)

// Window is the most packets of a flow that are unacknowledged: as many as a receive ring of 1,024 buffers holds. A
// packet beyond the map is acknowledged later, when the ones before it have arrived.
const Window = 1024

const (
	magic      = 0xce
	kindMask   = 0x0f
	sentAgain  = 0x10
	lastPacket = 0x20
)

// Kind is the kind of a packet.
type Kind uint8

// Kinds of packets.
const (
	Data Kind = 1
	Ack  Kind = 2
)

// Header is the header of a packet.
type Header struct {
	Kind    Kind
	Again   bool   // data: the packet is a retransmission
	Last    bool   // data: the packet is the last one of its message
	Index   uint16 // of the packet in its message
	Number  uint32 // of the packet; acknowledgement: of the first packet that has not arrived
	Message uint32
	Bytes   uint32 // of the message, or of the answer

	Marked uint32    // acknowledgement: packets that arrived with CE
	Map    [4]uint64 // acknowledgement: bit i of word w: packet Number + 64 w + i has arrived
}

// Len returns the length of the header in bytes.
func (h *Header) Len() int {
	if h.Kind == Ack {
		return AckBytes
	}
	return DataBytes
}

// Encode writes the header to b and returns its length. It panics if b is shorter.
func (h *Header) Encode(b []byte) int {
	b = b[:h.Len()]
	b[0], b[1] = magic, byte(h.Kind)
	if h.Again {
		b[1] |= sentAgain
	}
	if h.Last {
		b[1] |= lastPacket
	}
	be := binary.BigEndian
	be.PutUint16(b[2:], h.Index)
	be.PutUint32(b[4:], h.Number)
	be.PutUint32(b[8:], h.Message)
	be.PutUint32(b[12:], h.Bytes)
	if h.Kind == Ack {
		be.PutUint32(b[16:], h.Marked)
		for i, w := range h.Map {
			be.PutUint64(b[20+8*i:], w)
		}
	}
	return len(b)
}

// Decode returns the header at the start of a datagram's payload.
func Decode(b []byte) (h Header, err error) {
	if len(b) < DataBytes {
		return h, fmt.Errorf("rpc: %d bytes: want a header of %d", len(b), DataBytes)
	}
	h.Kind, h.Again, h.Last = Kind(b[1]&kindMask), b[1]&sentAgain != 0, b[1]&lastPacket != 0
	switch {
	case b[0] != magic:
		return h, fmt.Errorf("rpc: first byte %#02x: want %#02x", b[0], magic)
	case b[1]&^(kindMask|sentAgain|lastPacket) != 0 || h.Kind != Data && h.Kind != Ack,
		h.Kind == Ack && b[1] != byte(Ack):
		return h, fmt.Errorf("rpc: kind %#02x: want %d, which %#02x and %#02x may be added to, or %d", b[1], Data,
			sentAgain, lastPacket, Ack)
	case len(b) < h.Len():
		return h, fmt.Errorf("rpc: %d bytes: want an acknowledgement of %d", len(b), AckBytes)
	}
	be := binary.BigEndian
	h.Index, h.Number, h.Message, h.Bytes = be.Uint16(b[2:]), be.Uint32(b[4:]), be.Uint32(b[8:]), be.Uint32(b[12:])
	if h.Kind == Ack {
		h.Marked = be.Uint32(b[16:])
		for i := range h.Map {
			h.Map[i] = be.Uint64(b[20+8*i:])
		}
	}
	return h, nil
}
