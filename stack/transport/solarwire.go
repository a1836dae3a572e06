package transport

import (
	"encoding/binary"

	"nictwin/models/format/wire"
)

const solarVersion = 1

// solarCRCBytes is the length of the CRC, which begins the trailer: a NIC stores it directly behind the bytes that it
// covers.
const solarCRCBytes = 4

// solarHeader is the Solar header and trailer of a packet.
type solarHeader struct {
	version  uint8
	syndrome wire.Syndrome // in ACK packets: the result of the block
	block    uint16        // block number within the request
	request  uint32
	key      uint32
	length   uint32 // length of the block; READ: length to read
	addr     uint64 // address of the block at the server
	crc      uint32 // CRC-32C of the block
	whole    bool   // the packet was long enough to hold the trailer
}

// parseSolar decodes the header and, if b holds the whole packet, the trailer. n is the number of bytes between header
// and padding.
func (p *Packet) parseSolar(b []byte, n int) error {
	h := &p.solar
	*h = solarHeader{version: b[0], syndrome: wire.Syndrome(b[1]), block: binary.BigEndian.Uint16(b[2:]),
		request: binary.BigEndian.Uint32(b[4:]),
		key:     binary.BigEndian.Uint32(b[8:]), length: binary.BigEndian.Uint32(b[12:])}
	if p.BTH.Opcode == OpSolarAck {
		return nil
	}
	if n < SolarTrailerSize {
		return &wire.TruncatedError{Header: "Solar trailer", Need: SolarTrailerSize, Have: n}
	}
	p.Payload = n - SolarTrailerSize
	if end := SolarHeaderSize + n; len(b) >= end {
		p.SolarTrailer(b[end-SolarTrailerSize:])
	}
	return nil
}

// Trailed reports whether the packet has a Solar trailer behind its payload.
func (p *Packet) Trailed() bool {
	return p.BTH.Opcode >= OpSolarWrite && p.BTH.Opcode < OpSolarAck
}

// SolarTrailer decodes the trailer, the twelve bytes after the block. It is needed if Parse was given the headers only.
func (p *Packet) SolarTrailer(b []byte) {
	p.solar.crc, p.solar.addr, p.solar.whole = binary.LittleEndian.Uint32(b),
		binary.BigEndian.Uint64(b[solarCRCBytes:]), true
}

// encodeSolar builds a packet; block bytes follow the header.
func (b *base) encodeSolar(o *Out, op wire.Opcode, psn uint32, h *solarHeader, block int) {
	trailer := SolarTrailerSize
	if op == OpSolarAck {
		trailer = 0
	}
	x := b.begin(o, &b.ah, op, b.attr.DestQP, psn, 0, SolarHeaderSize, block, trailer)
	x[0], x[1] = solarVersion, byte(h.syndrome)
	binary.BigEndian.PutUint16(x[2:], h.block)
	binary.BigEndian.PutUint32(x[4:], h.request)
	binary.BigEndian.PutUint32(x[8:], h.key)
	binary.BigEndian.PutUint32(x[12:], h.length)
	if trailer > 0 {
		binary.BigEndian.PutUint64(o.Tail[solarCRCBytes:], h.addr)
		if block > 0 {
			o.CRCAt = 0
		}
	}
}
