package kit

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// Packet describes a frame to build. Whatever is not set is correct: lengths, checksums, ICRC.
type Packet struct {
	Dmac     [6]byte
	Tags     []uint32 // TPID and TCI of each
	L3       int      // 4, 6, or 0 for none
	Ether    uint16   // EtherType, if not that of L3
	Tos, Ttl uint8
	Options  int    // bytes of IPv4 options, a multiple of 4
	Frag     uint16 // IPv4 flags and fragment offset
	version  uint8  // of IP, if not that of L3
	ihl      int    // in words, if not what Options gives
	IPLen    int    // error of the IP length
	IPBad    bool   // the header checksum is wrong
	Proto    uint8  // transport protocol; 17 and 6 get a header
	Src, Dst uint8  // last byte of the addresses
	Sport    uint16
	Dport    uint16
	UDPLen   int      // error of the UDP length
	UDPCsum  CsumKind // of UDP
	DataOff  int      // TCP data offset in words; 0 is 5
	Roce     bool     // a BTH, its extension headers as payload, an ICRC
	Op       uint8
	BthFlags uint8
	pkey     uint16
	qp, psn  uint32
	ackReq   bool
	IcrcBad  bool
	Payload  int
	Digest   CsumKind // a CRC-32C at the payload's end
	Trailer  int      // bytes after the IP packet
	Seed     uint64
}

type CsumKind = craft.Sum

const (
	CsumZero  = craft.SumZero
	CsumRight = craft.SumRight
	CsumWrong = craft.SumWrong
)

const (
	ProtoTCP, ProtoUDP = craft.ProtoTCP, craft.ProtoUDP
	TypeIPv4, TypeIPv6 = craft.TypeIPv4, craft.TypeIPv6
	TpidC, TpidS       = craft.TpidC, craft.TpidS
)

var BigEndian = binary.BigEndian

func (p *Packet) frame() *craft.Frame {
	return &craft.Frame{DMAC: p.Dmac, Tags: p.Tags, L3: p.L3, Ether: p.Ether, Tos: p.Tos, TTL: p.Ttl,
		Options: p.Options, Frag: p.Frag,
		Version: p.version, IHL: p.ihl, IPLen: p.IPLen, IPBad: p.IPBad, Proto: p.Proto, Src: p.Src, Dst: p.Dst,
		SPort: p.Sport,
		DPort: p.Dport, UDPLen: p.UDPLen, UDPSum: p.UDPCsum, DataOff: p.DataOff, Roce: p.Roce, Op: p.Op,
		Flags: p.BthFlags,
		PKey:  p.pkey, QP: p.qp, PSN: p.psn, AckReq: p.ackReq, ICRCBad: p.IcrcBad, Payload: p.Payload, Digest: p.Digest,
		Trailer: p.Trailer, Seed: p.Seed}
}

func (p *Packet) L3Off() int { return p.frame().L3Off() }

func (p *Packet) L3Len() int { return p.frame().L3Len() }

// Build returns the frame. Its payload is random.
func (p *Packet) Build() []byte { return p.frame().Build() }

// RocePacket returns a plain RoCE packet.
func RocePacket(payload int) Packet {
	return Packet{L3: 4, Ttl: 64, Proto: ProtoUDP, Src: 1, Dst: 2, Sport: 0xc123, Dport: nicspec.ResetRocePort,
		Roce: true, Op: 4,
		pkey: 0xffff, qp: 0x123456, psn: 0x654321, Payload: payload, Seed: uint64(payload)}
}

// UDPPacket returns a plain UDP packet.
func UDPPacket(payload int) Packet {
	return Packet{L3: 4, Ttl: 64, Proto: ProtoUDP, Src: 3, Dst: 4, Sport: 1000, Dport: 2000, UDPCsum: CsumRight,
		Payload: payload,
		Seed:    uint64(payload)}
}

// Blob returns a frame of n bytes of no known protocol.
func Blob(n int, seed uint64) []byte {
	b := Pattern(max(n, 14), seed)
	BigEndian.PutUint16(b[12:], 0x88b6)
	return b[:n]
}
