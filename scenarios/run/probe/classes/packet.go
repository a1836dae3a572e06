package classes

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/stack/transport"
)

// packet describes a RoCE packet by its headers. Offsets are from the start of its frame.
type packet struct {
	ack      bool // acknowledgement without payload, or CNP
	known    int  // end of the headers that a NIC of the contract recognizes [H7]
	from, to int  // the payload
	stream   stream
	psn      uint32
	reliable bool // a retransmission repeats its PSN
}

// stream identifies packets whose PSNs differ unless one repeats the other.
type stream struct {
	mac      [6]byte // destination
	qpn      uint32
	response bool // carries data of a READ: its PSN is one of the requests in the other direction
}

const (
	etherBytes, tagBytes, ipv6Bytes, udpBytes, icrcBytes = 14, 4, 40, 8, 4
	minIPv4                                              = 20
)

// parse reads the headers of a packet. b begins with the frame, and may end anywhere behind the BTH. ok is false if the
// frame is no RoCE packet.
func parse(b []byte) (p packet, ok bool) {
	at := transportAt(b)
	if at < 0 || len(b) < at+udpBytes+wire.BTHSize || binary.BigEndian.Uint16(b[at+2:]) != wire.Port {
		return p, false
	}
	end := at + int(binary.BigEndian.Uint16(b[at+4:]))
	bth := wire.BTH(b[at+udpBytes:])
	op := bth.Opcode()
	p.stream = stream{mac: [6]byte(b), qpn: bth.DestQP(), response: responds(op)}
	p.psn, p.ack, p.reliable = bth.PSN(), acknowledges(op), op.Transport() == wire.TransportRC || solar(op)
	p.known = at + udpBytes + wire.BTHSize + wire.ExtLen(op)
	p.from = at + udpBytes + transport.HeadersOf(bth)
	p.to = end - icrcBytes - bth.PadCnt()
	if solar(op) {
		p.to -= transport.SolarTrailerSize
	}
	if p.ack || p.to < p.from {
		p.from, p.to = end, end
	}
	return p, true
}

// transportAt returns the offset of the UDP header, or -1.
func transportAt(b []byte) int {
	const typeAt, vlan, service, ipv4, ipv6, udp = 12, 0x8100, 0x88a8, 0x0800, 0x86dd, 17
	if len(b) < etherBytes {
		return -1
	}
	at := typeAt
	kind := binary.BigEndian.Uint16(b[at:])
	for range 2 {
		if (kind == vlan || kind == service) && len(b) >= at+tagBytes+2 {
			at += tagBytes
			kind = binary.BigEndian.Uint16(b[at:])
		}
	}
	at += 2
	switch {
	case kind == ipv4 && len(b) >= at+minIPv4 && b[at]>>4 == 4 && b[at+9] == udp:
		return at + 4*int(b[at]&0xf)
	case kind == ipv6 && len(b) >= at+ipv6Bytes && b[at+6] == udp:
		return at + ipv6Bytes
	}
	return -1
}

// solar reports whether packets of an opcode have a Solar trailer.
func solar(o wire.Opcode) bool { return o >= transport.OpSolarWrite && o < transport.OpSolarAck }

// acknowledges reports whether packets of an opcode only acknowledge, or notify of congestion.
func acknowledges(o wire.Opcode) bool {
	switch o {
	case wire.RCAck, wire.RCAtomicAck, wire.CNPOpcode, transport.OpSelectiveAck, transport.OpSolarAck:
		return true
	}
	return false
}

// responds reports whether packets of an opcode carry the data of a READ.
func responds(o wire.Opcode) bool {
	return o.Info().Operation == wire.OpReadResponse || o == transport.OpSolarData
}

// seen holds the PSNs that were seen of each stream. It forgets PSNs that are about 2^23 behind the latest one.
type seen map[stream]map[uint32]*[pageWords]uint64

const (
	wordBits   = 64
	pageWords  = 64
	pageBits   = wordBits * pageWords
	psnPages   = 1 << 24 / pageBits
	halfOfPSNs = psnPages / 2
)

// before reports whether a packet was seen before, and remembers it.
func (s seen) before(p *packet) bool {
	if !p.reliable {
		return false
	}
	pages := s[p.stream]
	if pages == nil {
		pages = map[uint32]*[pageWords]uint64{}
		s[p.stream] = pages
	}
	n := p.psn / pageBits
	page := pages[n]
	if page == nil {
		page = new([pageWords]uint64)
		pages[n] = page
		delete(pages, (n+halfOfPSNs)%psnPages)
	}
	word, bit := p.psn%pageBits/wordBits, uint64(1)<<(p.psn%wordBits)
	old := page[word]&bit != 0
	page[word] |= bit
	return old
}
