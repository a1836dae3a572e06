package kit

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic/craft"
)

// Packet describes a frame to build. Lengths, checksums and ICRC are correct unless a field makes them wrong.
type Packet struct {
	Dmac     [6]byte
	Tags     []uint32 // TPID and TCI of each VLAN tag
	L3       int      // IP version, 4 or 6; 0: no IP
	Ether    uint16   // EtherType; 0: the one that L3 requires
	Tos, Ttl uint8
	Options  int    // bytes of IPv4 options, a multiple of 4
	Frag     uint16 // IPv4 flags and fragment offset
	version  uint8  // version field of the IP header; 0: as L3 says
	ihl      int    // header length field of IPv4, in words; 0: correct
	IPLen    int    // added to the right value of the IP length field
	IPBad    bool   // IPv4 header checksum is wrong
	Proto    uint8  // transport protocol; 17 (UDP) and 6 (TCP) get a header
	Src, Dst uint8  // last bytes of the addresses
	Sport    uint16
	Dport    uint16
	UDPLen   int      // added to the right value of the UDP length field
	UDPCsum  CsumKind // value of the UDP checksum
	DataOff  int      // TCP data offset in words; 0 means 5
	Roce     bool     // insert a BTH and append an ICRC; extension headers are part of the payload
	Op       uint8
	BthFlags uint8
	pkey     uint16
	qp, psn  uint32
	ackReq   bool
	IcrcBad  bool
	Payload  int
	Digest   CsumKind // CRC-32C at the end of the payload
	Trailer  int      // number of bytes behind the IP packet
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
