package contract

import (
	"encoding/binary"

	"nictwin/models/nicspec"
	"nictwin/scenarios/traffic/craft"
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
	digest   csumKind // a CRC-32C at its end
	trailer  int      // bytes after the IP packet
	seed     uint64
}

type csumKind = craft.Sum

const (
	csumZero  = craft.SumZero
	csumRight = craft.SumRight
	csumWrong = craft.SumWrong
)

const (
	protoTCP, protoUDP = craft.ProtoTCP, craft.ProtoUDP
	typeIPv4, typeIPv6 = craft.TypeIPv4, craft.TypeIPv6
	tpidC, tpidS       = craft.TpidC, craft.TpidS
)

var be = binary.BigEndian

func (p *pkt) frame() *craft.Frame {
	return &craft.Frame{DMAC: p.dmac, Tags: p.tags, L3: p.l3, Ether: p.ether, Tos: p.tos, TTL: p.ttl, Options: p.options, Frag: p.frag,
		Version: p.version, IHL: p.ihl, IPLen: p.ipLen, IPBad: p.ipBad, Proto: p.proto, Src: p.src, Dst: p.dst, SPort: p.sport,
		DPort: p.dport, UDPLen: p.udpLen, UDPSum: p.udpCsum, DataOff: p.dataOff, Roce: p.roce, Op: p.op, Flags: p.bthFlags,
		PKey: p.pkey, QP: p.qp, PSN: p.psn, AckReq: p.ackReq, ICRCBad: p.icrcBad, Payload: p.payload, Digest: p.digest, Trailer: p.trailer, Seed: p.seed}
}

func (p *pkt) l3Off() int { return p.frame().L3Off() }

func (p *pkt) l3Len() int { return p.frame().L3Len() }

// build makes the frame. Its payload is random.
func (p *pkt) build() []byte { return p.frame().Build() }

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
