package contract

import (
	"encoding/binary"

	"nictwin/models/nicspec"
	"nictwin/models/wire"
)

// pkt says how a frame is to be made. What is not said is right: lengths, checksums, ICRC.
type pkt struct {
	dmac     [6]byte
	tags     []uint32 // TPID and TCI
	l3       int      // 4, 6, or 0 for none
	ether    uint16   // EtherType, where it is not that of l3
	tos, ttl uint8
	options  int    // bytes of IPv4 options, a multiple of 4
	frag     uint16 // IPv4 flags and fragment offset
	version  uint8  // of IP, where it is not that of l3
	ihl      int    // in words, where it is not what options make it
	ipLen    int    // by how much the IP length is wrong
	ipBad    bool   // the header checksum is
	proto    uint8  // of the transport; 17 and 6 get a header
	src, dst uint8  // last byte of the addresses
	sport    uint16
	dport    uint16
	udpLen   int      // by how much the UDP length is wrong
	udpCsum  csumKind // of UDP
	dataOff  int      // TCP data offset in words; 0 is 5
	roce     bool     // a BTH, its extension headers as payload, an ICRC
	op       uint8
	bthFlags uint8
	pkey     uint16
	qp, psn  uint32
	ackReq   bool
	icrcBad  bool
	payload  int
	trailer  int // bytes after the IP packet
	seed     uint64
}

type csumKind uint8

const (
	csumZero csumKind = iota
	csumRight
	csumWrong
)

const (
	protoTCP, protoUDP = 6, 17
	typeIPv4, typeIPv6 = 0x0800, 0x86dd
	tpidC, tpidS       = 0x8100, 0x88a8
)

var be = binary.BigEndian

func (p *pkt) l3Off() int { return 14 + 4*len(p.tags) }

func (p *pkt) l3Len() int {
	switch p.l3 {
	case 4:
		return 20 + p.options
	case 6:
		return 40
	}
	return 0
}

// build makes the frame. Its payload is random.
func (p *pkt) build() []byte {
	l4 := p.transport()
	b := append([]byte(nil), p.dmac[:]...)
	b = append(b, 2, 0, 0, 0, 0, p.src)
	for _, t := range p.tags {
		b = be.AppendUint32(b, t)
	}
	ether := p.ether
	if ether == 0 {
		ether = map[int]uint16{0: 0x88b5, 4: typeIPv4, 6: typeIPv6}[p.l3]
	}
	b = be.AppendUint16(b, ether)
	b = append(b, p.network(len(l4))...)
	at := len(b)
	b = append(b, l4...)
	p.seal(b, at, len(l4))
	return append(b, pattern(p.trailer, p.seed+7)...)
}

// network is the IP header for n bytes of transport.
func (p *pkt) network(n int) []byte {
	version := uint8(p.l3)
	if p.version != 0 {
		version = p.version
	}
	switch p.l3 {
	case 4:
		ihl := p.l3Len() / 4
		if p.ihl != 0 {
			ihl = p.ihl
		}
		h := make([]byte, p.l3Len())
		copy(h[20:], pattern(p.options, p.seed+9))
		h[0], h[1] = version<<4|uint8(ihl), p.tos
		be.PutUint16(h[2:], uint16(p.l3Len()+n+p.ipLen))
		be.PutUint16(h[4:], uint16(p.seed))
		be.PutUint16(h[6:], p.frag)
		h[8], h[9] = p.ttl, p.proto
		copy(h[12:], []byte{10, 1, 2, p.src, 10, 3, 4, p.dst})
		if p.ihl == 0 && p.version == 0 {
			be.PutUint16(h[10:], wire.Checksum(h))
		}
		if p.ipBad {
			h[11] ^= 0x40
		}
		return h
	case 6:
		h := make([]byte, 40)
		be.PutUint32(h, uint32(version)<<28|uint32(p.tos)<<20|uint32(p.seed&0xfffff))
		be.PutUint16(h[4:], uint16(n+p.ipLen))
		h[6], h[7] = p.proto, p.ttl
		copy(h[8:], append(pattern(15, 21), p.src))
		copy(h[24:], append(pattern(15, 22), p.dst))
		return h
	}
	return nil
}

// transport is everything after the IP header, checksums not yet in place.
func (p *pkt) transport() []byte {
	body := pattern(p.payload, p.seed)
	if p.roce {
		bth := make([]byte, 12, 16+len(body))
		bth[0], bth[1] = p.op, p.bthFlags
		be.PutUint16(bth[2:], p.pkey)
		be.PutUint32(bth[4:], p.qp&0xffffff)
		be.PutUint32(bth[8:], p.psn&0xffffff)
		bth[4] = byte(p.seed)
		if p.ackReq {
			bth[8] |= 0x80
		}
		body = append(append(bth, body...), 0, 0, 0, 0)
	}
	switch {
	case p.l3 == 0:
		return body
	case p.proto == protoUDP:
		h := make([]byte, 8, 8+len(body))
		be.PutUint16(h, p.sport)
		be.PutUint16(h[2:], p.dport)
		be.PutUint16(h[4:], uint16(8+len(body)+p.udpLen))
		return append(h, body...)
	case p.proto == protoTCP:
		off := max(5, p.dataOff)
		h := make([]byte, 20, 60+len(body))
		be.PutUint16(h, p.sport)
		be.PutUint16(h[2:], p.dport)
		h[12] = uint8(off) << 4
		if p.dataOff == 1 { // too small on purpose
			h[12] = 4 << 4
		}
		return append(append(h, pattern(4*(off-5), p.seed+3)...), body...)
	}
	return body
}

// seal puts the ICRC and the UDP checksum into a frame whose transport of n bytes starts at l4.
func (p *pkt) seal(b []byte, l4, n int) {
	if p.proto != protoUDP || p.l3 == 0 {
		return
	}
	l3 := p.l3Off()
	if p.roce {
		crc := wire.CoveredCRC(b[l3:], l4-l3, l4-l3+n-4)
		if p.icrcBad {
			crc ^= 0x100
		}
		binary.LittleEndian.PutUint32(b[l4+n-4:], crc)
	}
	if p.udpCsum == csumZero {
		return
	}
	addrs := b[l3+12 : l3+20]
	if p.l3 == 6 {
		addrs = b[l3+8 : l3+40]
	}
	length := be.Uint16(b[l4+4:])
	sum := wire.PartialSum(0).Add(addrs).AddUint16(protoUDP).AddUint16(length).Add(b[l4:min(len(b), l4+int(length))]).Checksum()
	if sum == 0 {
		sum = 0xffff
	}
	if p.udpCsum == csumWrong {
		sum ^= 0x0100
	}
	be.PutUint16(b[l4+6:], sum)
}

// rocePacket is a plain RoCE packet.
func rocePacket(payload int) pkt {
	return pkt{l3: 4, ttl: 64, proto: protoUDP, src: 1, dst: 2, sport: 0xc123, dport: nicspec.ResetRocePort, roce: true, op: 4,
		pkey: 0xffff, qp: 0x123456, psn: 0x654321, payload: payload, seed: uint64(payload)}
}

// udpPacket is a plain UDP packet.
func udpPacket(payload int) pkt {
	return pkt{l3: 4, ttl: 64, proto: protoUDP, src: 3, dst: 4, sport: 1000, dport: 2000, udpCsum: csumRight, payload: payload,
		seed: uint64(payload)}
}

// blob is a frame of n bytes of no known protocol.
func blob(n int, seed uint64) []byte {
	b := pattern(max(n, 14), seed)
	be.PutUint16(b[12:], 0x88b6)
	return b[:n]
}
