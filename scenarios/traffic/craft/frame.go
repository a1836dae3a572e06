package craft

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"

	"nictwin/models/format/wire"
)

// Frame describes a frame. Fields left at zero give correct values: lengths, checksums, ICRC.
type Frame struct {
	DMAC    [6]byte  `json:"dmac,omitzero"`
	Tags    []uint32 `json:"tags,omitempty"`  // TPID and TCI of each
	L3      int      `json:"l3,omitempty"`    // 4, 6, or 0 for none
	Ether   uint16   `json:"ether,omitempty"` // EtherType; 0: the one that L3 requires
	Tos     uint8    `json:"tos,omitempty"`
	TTL     uint8    `json:"ttl,omitempty"`
	Options int      `json:"options,omitempty"` // bytes of IPv4 options, a multiple of 4, up to MaxOptions
	Frag    uint16   `json:"frag,omitempty"`    // IPv4 flags and fragment offset
	Version uint8    `json:"version,omitempty"` // version field of the IP header; 0: as L3 says
	IHL     int      `json:"ihl,omitempty"`     // header length field in words; 0: as Options requires
	IPLen   int      `json:"ip_len,omitempty"`  // IP length field minus the correct length
	IPBad   bool     `json:"ip_bad,omitempty"`  // the header checksum is wrong
	Proto   uint8    `json:"proto,omitempty"`   // transport protocol; UDP and TCP get a header
	Src     uint8    `json:"src,omitempty"`     // last byte of the source address
	Dst     uint8    `json:"dst,omitempty"`
	SPort   uint16   `json:"sport,omitempty"`
	DPort   uint16   `json:"dport,omitempty"`
	UDPLen  int      `json:"udp_len,omitempty"` // UDP length field minus the correct length
	UDPSum  Sum      `json:"udp_sum,omitempty"` // value of the UDP checksum
	// TCP data offset in words, up to 15; 0 gives 5, 1 gives 4, which is too small
	DataOff int    `json:"data_off,omitempty"`
	Roce    bool   `json:"roce,omitempty"` // a BTH and an ICRC; extension headers are given as payload
	Op      uint8  `json:"op,omitempty"`   // opcode of the BTH; the fields from here to AckReq are in the BTH, too
	Flags   uint8  `json:"flags,omitempty"`
	PKey    uint16 `json:"pkey,omitempty"`
	QP      uint32 `json:"qp,omitempty"`
	PSN     uint32 `json:"psn,omitempty"`
	AckReq  bool   `json:"ack_req,omitempty"`
	ICRCBad bool   `json:"icrc_bad,omitempty"`
	Payload int    `json:"payload,omitempty"` // bytes
	Digest  Sum    `json:"digest,omitempty"`  // a payload of 4 B and more ends with the CRC-32C of the preceding bytes
	Trailer int    `json:"trailer,omitempty"` // bytes after the IP packet
	Seed    uint64 `json:"seed,omitempty"`    // seed of all random contents
}

// Sum selects the value of the UDP checksum or of a CRC-32C. A CRC-32C with SumZero is left out.
type Sum uint8

const (
	SumZero Sum = iota
	SumRight
	SumWrong
	SumOnes // UDP only: the frame is adjusted so that its checksum is 0, which is sent as 0xffff
)

// Protocol numbers, and the maximum length of IPv4 options.
const (
	ProtoTCP, ProtoUDP = 6, 17
	TypeIPv4, TypeIPv6 = 0x0800, 0x86dd
	TypeNone           = 0x88b5 // EtherType of frames without IP
	TpidC, TpidS       = 0x8100, 0x88a8
	MaxOptions         = 40
)

var (
	be         = binary.BigEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Pattern returns n random bytes.
func Pattern(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0x7061))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// L3Off returns the offset of the IP header.
func (p *Frame) L3Off() int { return 14 + 4*len(p.Tags) }

// L3Len returns the length of the IP header.
func (p *Frame) L3Len() int {
	switch p.L3 {
	case 4:
		return 20 + p.Options
	case 6:
		return 40
	}
	return 0
}

// Build returns the frame. Its payload is random.
func (p *Frame) Build() []byte {
	l4 := p.transport()
	b := append([]byte(nil), p.DMAC[:]...)
	b = append(b, 2, 0, 0, 0, 0, p.Src)
	for _, t := range p.Tags {
		b = be.AppendUint32(b, t)
	}
	ether := p.Ether
	if ether == 0 {
		ether = map[int]uint16{0: TypeNone, 4: TypeIPv4, 6: TypeIPv6}[p.L3]
	}
	b = be.AppendUint16(b, ether)
	b = append(b, p.network(len(l4))...)
	at := len(b)
	b = append(b, l4...)
	p.seal(b, at, len(l4))
	return append(b, Pattern(p.Trailer, p.Seed+7)...)
}

// network returns the IP header of a packet with n bytes of transport header and payload.
func (p *Frame) network(n int) []byte {
	version := uint8(p.L3)
	if p.Version != 0 {
		version = p.Version
	}
	switch p.L3 {
	case 4:
		return p.ipv4(version, n)
	case 6:
		h := make([]byte, 40)
		be.PutUint32(h, uint32(version)<<28|uint32(p.Tos)<<20|uint32(p.Seed&0xfffff))
		be.PutUint16(h[4:], uint16(n+p.IPLen))
		h[6], h[7] = p.Proto, p.TTL
		copy(h[8:], append(Pattern(15, 21), p.Src))
		copy(h[24:], append(Pattern(15, 22), p.Dst))
		return h
	}
	return nil
}

func (p *Frame) ipv4(version uint8, n int) []byte {
	ihl := p.L3Len() / 4
	if p.IHL != 0 {
		ihl = p.IHL
	}
	h := make([]byte, p.L3Len())
	copy(h[20:], Pattern(p.Options, p.Seed+9))
	h[0], h[1] = version<<4|uint8(ihl), p.Tos
	be.PutUint16(h[2:], uint16(p.L3Len()+n+p.IPLen))
	be.PutUint16(h[4:], uint16(p.Seed))
	be.PutUint16(h[6:], p.Frag)
	h[8], h[9] = p.TTL, p.Proto
	copy(h[12:], []byte{10, 1, 2, p.Src, 10, 3, 4, p.Dst})
	if p.IHL == 0 && p.Version == 0 {
		be.PutUint16(h[10:], wire.Checksum(h))
	}
	if p.IPBad {
		h[11] ^= 0x40
	}
	return h
}

// transport returns everything behind the IP header, with checksums of zero.
func (p *Frame) transport() []byte {
	body := p.payload()
	if p.Roce {
		bth := make([]byte, 12, 16+len(body))
		bth[0], bth[1] = p.Op, p.Flags
		be.PutUint16(bth[2:], p.PKey)
		be.PutUint32(bth[4:], p.QP&0xffffff)
		be.PutUint32(bth[8:], p.PSN&0xffffff)
		bth[4] = byte(p.Seed)
		if p.AckReq {
			bth[8] |= 0x80
		}
		body = append(append(bth, body...), 0, 0, 0, 0)
	}
	switch {
	case p.L3 == 0:
		return body
	case p.Proto == ProtoUDP:
		h := make([]byte, 8, 8+len(body))
		be.PutUint16(h, p.SPort)
		be.PutUint16(h[2:], p.DPort)
		be.PutUint16(h[4:], uint16(8+len(body)+p.UDPLen))
		return append(h, body...)
	case p.Proto == ProtoTCP:
		return append(p.tcp(), body...)
	}
	return body
}

func (p *Frame) payload() []byte {
	body := Pattern(p.Payload, p.Seed)
	if data := len(body) - crc32.Size; p.Digest != SumZero && data >= 0 {
		crc := crc32.Checksum(body[:data], castagnoli)
		if p.Digest == SumWrong {
			crc ^= 1 << (data % 32)
		}
		binary.LittleEndian.PutUint32(body[data:], crc)
	}
	return body
}

func (p *Frame) tcp() []byte {
	off := max(5, p.DataOff)
	h := make([]byte, 20, 60)
	be.PutUint16(h, p.SPort)
	be.PutUint16(h[2:], p.DPort)
	h[12] = uint8(off) << 4
	if p.DataOff == 1 { // 1 stands for a data offset that is too small
		h[12] = 4 << 4
	}
	return append(h, Pattern(4*(off-5), p.Seed+3)...)
}

// seal inserts the ICRC and the UDP checksum into a frame. The transport header starts at l4; header and payload have n
// bytes.
func (p *Frame) seal(b []byte, l4, n int) {
	if p.Proto != ProtoUDP || p.L3 == 0 {
		return
	}
	p.sealICRC(b, l4, n)
	if p.UDPSum == SumZero {
		return
	}
	if p.UDPSum == SumOnes {
		p.toZero(b, l4, n)
	}
	sum := p.udpSum(b, l4)
	if sum == 0 {
		sum = 0xffff
	}
	if p.UDPSum == SumWrong {
		sum ^= 0x0100
	}
	be.PutUint16(b[l4+6:], sum)
}

func (p *Frame) sealICRC(b []byte, l4, n int) {
	if !p.Roce {
		return
	}
	l3 := p.L3Off()
	crc := wire.CoveredCRC(b[l3:], l4-l3, l4-l3+n-4)
	if p.ICRCBad {
		crc ^= 0x100
	}
	binary.LittleEndian.PutUint32(b[l4+n-4:], crc)
}

// udpSum computes the checksum of a datagram whose checksum field is zero.
func (p *Frame) udpSum(b []byte, l4 int) uint16 {
	l3 := p.L3Off()
	addrs := b[l3+12 : l3+20]
	if p.L3 == 6 {
		addrs = b[l3+8 : l3+40]
	}
	length := be.Uint16(b[l4+4:])
	end := max(l4, min(len(b), l4+int(length)))
	return wire.PartialSum(0).Add(addrs).AddUint16(ProtoUDP).AddUint16(length).Add(b[l4:end]).Checksum()
}

// toZero changes the source port so that the UDP checksum is zero. In a RoCE frame that also changes the ICRC, which
// the checksum covers. There it tries ports until the checksum's low byte is zero and its high byte can be added to the
// fifth byte of the BTH, which the ICRC does not cover.
func (p *Frame) toZero(b []byte, l4, n int) {
	const tries, spare = 1 << 12, 8 + 4
	for range tries {
		sum, port := p.udpSum(b, l4), be.Uint16(b[l4:])
		switch {
		case sum == 0:
			return
		case !p.Roce:
			be.PutUint16(b[l4:], ^wire.PartialSum(0).AddUint16(port).AddUint16(sum).Checksum())
		case sum&0xff == 0 && int(b[l4+spare])+int(sum>>8) <= 0xff:
			b[l4+spare] += uint8(sum >> 8)
		default:
			be.PutUint16(b[l4:], port+1)
			p.sealICRC(b, l4, n)
		}
	}
}
