package kit

import (
	"encoding/binary"
	"hash/crc32"

	"nictwin/models/format/wire"
	"nictwin/models/nic/nicspec"
)

// Parsed sets the fields of a completion entry that follow from the frame alone. It parses the frame rule by rule, as
// section 5 of docs/nic.md is written, and shares no code with the NIC models.
func Parsed(b []byte, rocePort uint16) (f nicspec.RxCqeFields) {
	p := parser{b: b, RxCqeFields: &f}
	p.ethernet()
	p.network()
	p.transport()
	p.roce(rocePort)
	p.payload()
	p.checks()
	return f
}

type parser struct {
	*nicspec.RxCqeFields
	b      []byte
	l3, l4 int
	l4At   int  // offset at which a transport header would begin
	look   bool // there may be a transport header
	udpLen int
	extra  int
}

func (p *parser) u16(at int) uint16 { return BigEndian.Uint16(p.b[at:]) }

// ethernet parses the Ethernet header and its tags [H1].
func (p *parser) ethernet() {
	n, at := len(p.b), 12
	p.FrameLen = uint16(n)
	for tag := 0; tag < 2 && (p.u16(at) == TpidC || p.u16(at) == TpidS) && at+6 <= n; tag++ {
		tci := p.u16(at + 2)
		if tag == 0 {
			p.VlanOuter = tci
		} else {
			p.VlanInner = tci
		}
		p.VlanCount++
		at += 4
	}
	p.Ethertype = p.u16(at)
	p.l3 = at + 2
	p.L3Off = uint8(p.l3)
}

// network parses the IP header [H2] [H3].
func (p *parser) network() {
	n, l3 := len(p.b), p.l3
	switch {
	case p.Ethertype == TypeIPv4 && l3+20 <= n && p.b[l3]>>4 == 4 && p.b[l3]&15 >= 5 && l3+4*int(p.b[l3]&15) <= n:
		hl, total := 4*int(p.b[l3]&15), int(p.u16(l3+2))
		p.L3Type = nicspec.L3TypeIpv4
		p.Frag = p.u16(l3+6)&0x3fff != 0
		p.IpLenBad = total < hl || l3+total > n
		p.IpTos, p.IpProto = p.b[l3+1], p.b[l3+9]
		p.l4At, p.look = l3+hl, p.u16(l3+6)&0x1fff == 0
	case p.Ethertype == TypeIPv6 && l3+40 <= n && p.b[l3]>>4 == 6:
		p.L3Type = nicspec.L3TypeIpv6
		p.IpLenBad = l3+40+int(p.u16(l3+4)) > n
		p.IpTos, p.IpProto = uint8(p.u16(l3)>>4), p.b[l3+6]
		p.l4At, p.look = l3+40, true
	}
}

// transport parses the transport header [H4] [H5].
func (p *parser) transport() {
	n, at := len(p.b), p.l4At
	switch {
	case p.look && p.IpProto == ProtoUDP && at+8 <= n:
		p.L4Type, p.udpLen = nicspec.L4TypeUdp, int(p.u16(at+4))
		p.L4LenBad = p.udpLen < 8 || at+p.udpLen > n
	case p.look && p.IpProto == ProtoTCP && at+20 <= n:
		p.L4Type = nicspec.L4TypeTcp
	default:
		return
	}
	p.l4 = at
	p.L4Off = uint8(at)
	p.SrcPort, p.DstPort = p.u16(at), p.u16(at+2)
}

// ExtOf is the table of extension headers by opcode [H7].
var ExtOf = func() map[uint8]int {
	m := map[uint8]int{0x64: 8, 0x65: 12, 0x81: 16, 0x12: 12, 0x13: 28, 0x14: 28, 0x0b: 20, 0x2b: 20}
	for _, op := range []uint8{0x06, 0x0a, 0x0c, 0x26, 0x2a} {
		m[op] = 16
	}
	for _, op := range []uint8{0x03, 0x05, 0x09, 0x0d, 0x0f, 0x10, 0x11, 0x16, 0x17, 0x23, 0x25, 0x29} {
		m[op] = 4
	}
	return m
}()

// roce decides whether the packet is RoCE, and reads its BTH [H6].
func (p *parser) roce(port uint16) {
	if p.L4Type != nicspec.L4TypeUdp || p.DstPort != port || p.l4+20 > len(p.b) {
		return
	}
	bth := p.b[p.l4+8:]
	p.Roce = true
	p.BthOpcode, p.BthFlags, p.Pkey = bth[0], bth[1], BigEndian.Uint16(bth[2:])
	p.DestQp = BigEndian.Uint32(bth[4:]) & 0xffffff
	p.Psn = BigEndian.Uint32(bth[8:]) & 0x80ffffff
	if p.l4+20+ExtOf[bth[0]] <= len(p.b) {
		p.extra = ExtOf[bth[0]]
	}
}

// payload finds where the payload begins and ends [H7].
func (p *parser) payload() {
	off := p.l3
	switch {
	case p.Roce:
		off = p.l4 + 20 + p.extra
	case p.L4Type == nicspec.L4TypeUdp:
		off = p.l4 + 8
	case p.L4Type == nicspec.L4TypeTcp:
		off = p.l4 + 20
		if d := 4 * int(p.b[p.l4+12]>>4); d >= 20 && p.l4+d <= len(p.b) {
			off = p.l4 + d
		}
	case p.L3Type != nicspec.L3TypeNone:
		off = p.l4At
	}
	p.PayloadOff = uint16(off)
}

// checks computes the checksum and ICRC verdicts [H8] to [H10].
func (p *parser) checks() {
	if p.L3Type == nicspec.L3TypeIpv4 {
		p.IpCsum = rightIf(wire.Checksum(p.b[p.l3:p.l4At]) == 0)
	}
	if p.L4Type != nicspec.L4TypeUdp || p.L4LenBad || p.Frag {
		return
	}
	end := p.l4 + p.udpLen
	if p.u16(p.l4+6) != 0 {
		addrs := p.b[p.l3+12 : p.l3+20]
		if p.L3Type == nicspec.L3TypeIpv6 {
			addrs = p.b[p.l3+8 : p.l3+40]
		}
		sum := wire.PartialSum(0).Add(addrs).AddUint16(ProtoUDP).AddUint16(uint16(p.udpLen)).Add(p.b[p.l4:end])
		p.L4Csum = rightIf(sum.Checksum() == 0)
	}
	if p.Roce && p.udpLen >= 24 {
		p.Icrc = rightIf(p.crc(end-4) == binary.LittleEndian.Uint32(p.b[end-4:]))
	}
}

// crc returns the ICRC [H10] over the bytes before end.
func (p *parser) crc(end int) uint32 {
	c := append([]byte{255, 255, 255, 255, 255, 255, 255, 255}, p.b[p.l3:end]...)
	l3, l4 := c[8:], c[8+p.l4-p.l3:]
	if p.L3Type == nicspec.L3TypeIpv4 {
		l3[1], l3[8], l3[10], l3[11] = 255, 255, 255, 255
	} else {
		l3[0], l3[1], l3[2], l3[3], l3[7] = l3[0]|15, 255, 255, 255, 255
	}
	l4[6], l4[7], l4[12] = 255, 255, 255
	return crc32.ChecksumIEEE(c)
}

// rightIf returns the verdict of a check that passed or failed.
func rightIf(ok bool) nicspec.Verdict {
	if ok {
		return nicspec.VerdictOk
	}
	return nicspec.VerdictBad
}

// SteerKey returns the steering key of a frame on a port [R5, H11].
func SteerKey(b []byte, f *nicspec.RxCqeFields, port int) []byte {
	k := nicspec.SteerKeyFields{
		Port: uint8(port), IpProto: f.IpProto, IsIpv4: f.L3Type == nicspec.L3TypeIpv4,
		IsIpv6: f.L3Type == nicspec.L3TypeIpv6,
		IsUdp:  f.L4Type == nicspec.L4TypeUdp, IsTcp: f.L4Type == nicspec.L4TypeTcp, IsRoce: f.Roce, IsFrag: f.Frag,
		IpLenBad: f.IpLenBad, L4LenBad: f.L4LenBad, HasVlan: f.VlanCount > 0, HasVlan2: f.VlanCount > 1,
		Ethertype: f.Ethertype,
		VlanOuter: f.VlanOuter, IpTos: f.IpTos, BthOpcode: f.BthOpcode, SrcPort: f.SrcPort, DstPort: f.DstPort,
		DestQp: f.DestQp,
	}
	copy(k.Dmac[:], b)
	switch l3 := int(f.L3Off); f.L3Type {
	case nicspec.L3TypeIpv4:
		copy(k.SrcAddr[:], b[l3+12:l3+16])
		copy(k.DstAddr[:], b[l3+16:l3+20])
	case nicspec.L3TypeIpv6:
		copy(k.SrcAddr[:], b[l3+8:l3+24])
		copy(k.DstAddr[:], b[l3+24:l3+40])
	}
	return Encode(&k, nicspec.SteerKeySize)
}
