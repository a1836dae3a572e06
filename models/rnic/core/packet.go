package core

import (
	"encoding/binary"

	"nictwin/models/format/ether"
	"nictwin/models/format/wire"
)

// Packet holds the headers of a RoCEv2 packet and, on receive, its payload.
type Packet struct {
	wire.BTHFields
	RETH   wire.RETHFields
	Atomic wire.AtomicETHFields
	AETH   wire.AETHFields
	DETH   wire.DETHFields
	Imm    uint32
	Inv    uint32 // key of the region to be invalidated
	Orig   uint64 // original value, in the response to an atomic

	Payload []byte // payload of a received packet: a slice of the frame
	Net     []byte // IP header of a received packet: a slice of the frame

	ce bool // Mark marked the packet
}

// Drop is the reason why a packet was ignored.
type Drop uint8

// Values of Drop.
const (
	Kept Drop = iota
	DropNotRoCE
	DropICRC      // wrong ICRC or UDP checksum
	DropShort     // truncated headers
	DropVersion   // unsupported transport version (TVer)
	DropPartition // wrong partition (P_Key)
	DropNoQP      // unknown queue pair, one of another transport, or one whose state does not permit receiving
	DropSequence  // out of sequence and NAKed before, or a duplicate without effect
	DropKey       // UD: wrong Q_Key
	DropNoBuffer  // UC, UD: no receive entry, or the entry's buffer is too short
	DropStray     // an unexpected response
	DropUnknown   // the opcode is not defined for the transport
)

const (
	etherBytes = 14
	ipv4Bytes  = 20
	ipv6Bytes  = 40
	udpBytes   = 8
	minLength  = ether.MinLen
	defaultKey = 0xffff // P_Key of the default partition, full member; a limited member lacks bit 15
	psnMask    = 1<<24 - 1
)

// InfiniBandBytes is the size of a packet in native InfiniBand framing, without payload and
// extension headers: LRH 8, BTH 12, ICRC 4, VCRC 2 (IBTA 7.7, 7.8, 9.2).
const InfiniBandBytes = 8 + wire.BTHSize + wire.ICRCSize + 2

// Decode parses a frame and checks its ICRC. The packet refers to slices of the frame.
func (p *Packet) Decode(frame []byte) Drop {
	switch v := wire.VerifyFrameICRC(frame); v.Verdict {
	case wire.OK:
	case wire.NotChecked:
		return DropNotRoCE
	default:
		return DropICRC
	}
	off, _, err := wire.L3Offset(frame)
	if err != nil {
		return DropNotRoCE
	}
	ip := frame[off:]
	l4 := ipv6Bytes
	if ip[0]>>4 == 4 {
		l4 = int(ip[0]&0xf) * 4
	}
	if wire.VerifyUDPChecksum(ip) == wire.Bad {
		return DropICRC
	}
	end := l4 + int(binary.BigEndian.Uint16(ip[l4+4:]))
	return p.decode(ip[:l4], ip[l4+udpBytes:end-wire.ICRCSize])
}

// decode parses the bytes between UDP header and ICRC.
func (p *Packet) decode(net, b []byte) Drop {
	bth, err := wire.ParseBTH(b)
	if err != nil {
		return DropShort
	}
	*p = Packet{BTHFields: bth.Fields(), Net: net}
	switch {
	case p.TVer != 0:
		return DropVersion
	case p.PKey|1<<15 != defaultKey:
		return DropPartition
	}
	info := p.Opcode.Info()
	if !info.Known {
		p.Payload = b[wire.BTHSize:]
		return Kept // an unknown opcode is judged by the queue pair's transport
	}
	b = b[wire.BTHSize:]
	if len(b) < int(info.ExtLen)+int(p.PadCnt) {
		return DropShort
	}
	for _, h := range info.Ext {
		p.extension(h, b)
		b = b[h.Size():]
	}
	p.Payload = b[:len(b)-int(p.PadCnt)]
	return Kept
}

// extension parses one extension header, whose bytes are complete.
func (p *Packet) extension(h wire.Header, b []byte) {
	switch h {
	case wire.HeaderRETH:
		p.RETH = wire.RETH(b).Fields()
	case wire.HeaderAETH:
		p.AETH = wire.AETH(b).Fields()
	case wire.HeaderDETH:
		p.DETH = wire.DETH(b).Fields()
	case wire.HeaderImmDt:
		p.Imm = binary.BigEndian.Uint32(b)
	case wire.HeaderIETH:
		p.Inv = binary.BigEndian.Uint32(b)
	case wire.HeaderAtomicETH:
		p.Atomic = wire.AtomicETH(b).Fields()
	case wire.HeaderAtomicAckETH:
		p.Orig = wire.AtomicAckETH(b).Orig()
	}
}

// congestionExperienced is the value of the ECN field of a marked packet (RFC 3168, section 5).
const congestionExperienced = 3

// ecn returns the ECN field of a received packet's IP header.
func (p *Packet) ecn() byte {
	const v6, v6Shift = 6, 4
	switch {
	case len(p.Net) < 2:
		return 0
	case p.Net[0]>>4 == v6:
		return p.Net[1] >> v6Shift & congestionExperienced
	}
	return p.Net[1] & congestionExperienced
}

// Marked reports whether a received packet has experienced congestion.
func (p *Packet) Marked() bool { return p.ce || p.ecn() == congestionExperienced }

// Mark marks a received packet as congestion experienced, and reports whether it did. It leaves packets that are not
// ECN-capable, or marked already, and does not change the frame.
func (p *Packet) Mark() bool {
	if p.Marked() || p.ecn() == 0 {
		return false
	}
	p.ce = true
	return true
}

// IsResponse reports whether the packet goes to the requester side of a queue pair.
func (p *Packet) IsResponse() bool {
	switch p.Opcode.Info().Operation {
	case wire.OpReadResponse, wire.OpAck, wire.OpAtomicAck:
		return true
	}
	return false
}

// Address holds the addresses of both ends of a packet's path.
type Address struct {
	Port           int // Ethernet port of the NIC
	V6             bool
	SrcMAC, DstMAC [6]byte
	SrcIP, DstIP   [16]byte // IPv4 uses the first four bytes
	UDPPort        uint16   // UDP source port
	TOS, TTL       uint8
}

// Loop reports whether packets go to the NIC that sends them.
func (a *Address) Loop() bool { return a.SrcMAC == a.DstMAC }

func (a *Address) netBytes() int {
	if a.V6 {
		return etherBytes + ipv6Bytes + udpBytes
	}
	return etherBytes + ipv4Bytes + udpBytes
}

// PayloadAt returns the offset of the payload in a frame.
func (p *Packet) PayloadAt(a *Address) int {
	return a.netBytes() + wire.BTHSize + wire.ExtLen(p.Opcode)
}

// FrameBytes returns the size of a frame with n bytes of payload, and the size of the same packet
// in InfiniBand framing.
func (p *Packet) FrameBytes(a *Address, n int) (roce, infiniband int) {
	padded := (n + 3) &^ 3
	roce = max(p.PayloadAt(a)+padded+wire.ICRCSize, minLength)
	return roce, InfiniBandBytes + wire.ExtLen(p.Opcode) + padded
}

// Encode writes the headers and the padding of a frame with n bytes of payload; frame must be as long as FrameBytes
// says. Call Seal once the payload is in place: it adds the checksums.
func (p *Packet) Encode(frame []byte, a *Address, n int) {
	at := p.PayloadAt(a)
	clear(frame[at+n:])
	copy(frame, a.DstMAC[:])
	copy(frame[6:], a.SrcMAC[:])
	be := binary.BigEndian
	udp := udpBytes + wire.BTHSize + wire.ExtLen(p.Opcode) + (n+3)&^3 + wire.ICRCSize
	ip := frame[etherBytes:]
	if a.V6 {
		be.PutUint16(frame[12:], 0x86dd)
		be.PutUint32(ip, 6<<28|uint32(a.TOS)<<20)
		be.PutUint16(ip[4:], uint16(udp))
		ip[6], ip[7] = 17, a.TTL
		copy(ip[8:], a.SrcIP[:])
		copy(ip[24:], a.DstIP[:])
		ip = ip[ipv6Bytes:]
	} else {
		be.PutUint16(frame[12:], 0x0800)
		be.PutUint32(ip, 0x45<<24|uint32(a.TOS)<<16|uint32(ipv4Bytes+udp))
		be.PutUint32(ip[4:], 0x4000) // don't fragment
		be.PutUint32(ip[8:], uint32(a.TTL)<<24|17<<16)
		copy(ip[12:16], a.SrcIP[:4])
		copy(ip[16:20], a.DstIP[:4])
		ip = ip[ipv4Bytes:]
	}
	be.PutUint16(ip, a.UDPPort)
	be.PutUint16(ip[2:], wire.Port)
	be.PutUint32(ip[4:], uint32(udp)<<16) // checksum 0: not computed
	p.transport(ip[udpBytes:], n)
}

// transport writes BTH and the headers after it.
func (p *Packet) transport(b []byte, n int) {
	f := p.BTHFields
	f.PadCnt = uint8(-n & 3)
	f.PSN &= psnMask
	f.DestQP &= psnMask
	if f.PKey == 0 {
		f.PKey = defaultKey
	}
	_ = f.Encode(b) // cannot fail: every field is in its range
	b = b[wire.BTHSize:]
	for _, h := range p.Opcode.Info().Ext {
		p.encodeExtension(h, b)
		b = b[h.Size():]
	}
}

func (p *Packet) encodeExtension(h wire.Header, b []byte) {
	switch h { // Encode cannot fail: b is large enough and every field is in its range
	case wire.HeaderRETH:
		_ = p.RETH.Encode(b)
	case wire.HeaderAETH:
		f := p.AETH
		f.MSN &= psnMask
		_ = f.Encode(b)
	case wire.HeaderDETH:
		_ = p.DETH.Encode(b)
	case wire.HeaderImmDt:
		binary.BigEndian.PutUint32(b, p.Imm)
	case wire.HeaderIETH:
		binary.BigEndian.PutUint32(b, p.Inv)
	case wire.HeaderAtomicETH:
		_ = p.Atomic.Encode(b)
	case wire.HeaderAtomicAckETH:
		binary.BigEndian.PutUint64(b, p.Orig)
	case wire.HeaderCNP:
		clear(b[:wire.CNPSize])
	}
}

// Seal writes the checksums of a frame whose payload is in place.
func Seal(frame []byte) error { return wire.SealFrame(frame, false) }
