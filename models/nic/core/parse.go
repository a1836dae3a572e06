package core

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
)

// Headers holds the parser's results for a frame (section 5). Offsets are from the start of the
// frame; fields of absent layers are zero.
type Headers struct {
	Len int // bytes of the frame, n in the contract

	DMAC       [6]byte
	Ethertype  uint16 // after the tags
	VlanCount  uint8  // 0..2
	VlanOuter  uint16 // TCI
	VlanInner  uint16 // TCI
	L3Off      uint8  // 14 + 4 per tag, whatever follows
	PayloadOff uint16 // end of the headers parsed [H7]

	L3Type   nicspec.L3Type
	IPHdrLen uint8 // 4·IHL, or 40
	IPProto  uint8
	IPTos    uint8
	Src, Dst [16]byte // IPv4 in the first four bytes [H11]
	Frag     bool
	IPLenBad bool
	IPEnd    int // end of the packet by its length field, which may be bad

	L4Type   nicspec.L4Type
	L4Off    uint8
	SrcPort  uint16
	DstPort  uint16
	UDPLen   uint16
	L4LenBad bool
	Cut      bool // RoCE extension headers or TCP options reach beyond the frame [X3]

	Roce      bool // a BTH was parsed [H6]
	BTHOpcode uint8
	BTHFlags  uint8
	PKey      uint16
	DestQP    uint32
	PSN       uint32 // 24 bits
	AckReq    bool
}

const (
	etherBytes   = 14
	vlanBytes    = 4
	maxVlans     = 2
	typeVlan     = 0x8100
	typeQinQ     = 0x88a8
	typeIPv4     = 0x0800
	typeIPv6     = 0x86dd
	ipv4MinBytes = 20
	ipv6Bytes    = 40
	protoTCP     = 6
	protoUDP     = 17
	udpBytes     = 8
	tcpMinBytes  = 20
	bthBytes     = 12
	fragOffset   = 0x1fff
	fragMore     = 0x2000
)

// Parse reads the headers of a frame. The frame must have at least nicspec.FrameMin bytes; roce is
// the UDP port of RoCEv2.
func Parse(frame []byte, roce uint16, h *Headers) {
	*h = Headers{Len: len(frame)}
	copy(h.DMAC[:], frame)
	h.parseEthernet(frame)
	h.PayloadOff = uint16(h.L3Off)
	l4, proto := 0, uint8(0)
	switch h.Ethertype {
	case typeIPv4:
		l4, proto = h.parseIPv4(frame)
	case typeIPv6:
		l4, proto = h.parseIPv6(frame)
	}
	if l4 == 0 {
		return
	}
	switch {
	case proto == protoUDP && l4+udpBytes <= len(frame):
		h.parseUDP(frame, l4, roce)
	case proto == protoTCP && l4+tcpMinBytes <= len(frame):
		h.parseTCP(frame, l4)
	}
}

// parseEthernet parses the Ethernet header with up to two tags [H1].
func (h *Headers) parseEthernet(frame []byte) {
	off := etherBytes
	t := binary.BigEndian.Uint16(frame[off-2:])
	for (t == typeVlan || t == typeQinQ) && h.VlanCount < maxVlans && off+vlanBytes <= len(frame) {
		tci := binary.BigEndian.Uint16(frame[off:])
		if h.VlanCount == 0 {
			h.VlanOuter = tci
		} else {
			h.VlanInner = tci
		}
		h.VlanCount++
		t = binary.BigEndian.Uint16(frame[off+2:])
		off += vlanBytes
	}
	h.Ethertype, h.L3Off = t, uint8(off)
}

// parseIPv4 returns the offset and protocol of the transport header [H2, H4]; offset 0 means that
// the frame has none to parse.
func (h *Headers) parseIPv4(frame []byte) (l4 int, proto uint8) {
	l3, n := int(h.L3Off), len(frame)
	ip := frame[l3:]
	hdr := int(ip[0]&0xf) * 4
	if ip[0]>>4 != 4 || hdr < ipv4MinBytes || l3+hdr > n {
		return 0, 0
	}
	h.L3Type, h.IPHdrLen = nicspec.L3TypeIpv4, uint8(hdr)
	h.IPTos, h.IPProto = ip[1], ip[9]
	copy(h.Src[:4], ip[12:16])
	copy(h.Dst[:4], ip[16:20])
	total := int(binary.BigEndian.Uint16(ip[2:]))
	h.IPLenBad, h.IPEnd = total < hdr || l3+total > n, l3+total
	frag := binary.BigEndian.Uint16(ip[6:])
	h.Frag = frag&(fragMore|fragOffset) != 0
	h.PayloadOff = uint16(l3 + hdr)
	if frag&fragOffset != 0 {
		return 0, 0
	}
	return l3 + hdr, h.IPProto
}

// parseIPv6 is parseIPv4 for IPv6 [H3, H4].
func (h *Headers) parseIPv6(frame []byte) (l4 int, proto uint8) {
	l3, n := int(h.L3Off), len(frame)
	ip := frame[l3:]
	if ip[0]>>4 != 6 || l3+ipv6Bytes > n {
		return 0, 0
	}
	h.L3Type, h.IPHdrLen = nicspec.L3TypeIpv6, ipv6Bytes
	h.IPTos, h.IPProto = ip[0]<<4|ip[1]>>4, ip[6]
	copy(h.Src[:], ip[8:24])
	copy(h.Dst[:], ip[24:40])
	h.IPEnd = l3 + ipv6Bytes + int(binary.BigEndian.Uint16(ip[4:]))
	h.IPLenBad = h.IPEnd > n
	h.PayloadOff = uint16(l3 + ipv6Bytes)
	return l3 + ipv6Bytes, h.IPProto
}

// parseUDP parses UDP and, on the RoCEv2 port, the BTH [H5..H7].
func (h *Headers) parseUDP(frame []byte, l4 int, roce uint16) {
	udp, n := frame[l4:], len(frame)
	h.L4Type, h.L4Off = nicspec.L4TypeUdp, uint8(l4)
	h.SrcPort = binary.BigEndian.Uint16(udp)
	h.DstPort = binary.BigEndian.Uint16(udp[2:])
	h.UDPLen = binary.BigEndian.Uint16(udp[4:])
	h.L4LenBad = h.UDPLen < udpBytes || l4+int(h.UDPLen) > n
	h.PayloadOff = uint16(l4 + udpBytes)
	if h.DstPort != roce || l4+udpBytes+bthBytes > n {
		return
	}
	bth := udp[udpBytes:]
	h.Roce = true
	h.BTHOpcode, h.BTHFlags = bth[0], bth[1]
	h.PKey = binary.BigEndian.Uint16(bth[2:])
	h.DestQP = binary.BigEndian.Uint32(bth[4:]) & 0xffffff
	h.AckReq = bth[8]&0x80 != 0
	h.PSN = binary.BigEndian.Uint32(bth[8:]) & 0xffffff
	end := l4 + udpBytes + bthBytes
	ext := end + int(bthExt[h.BTHOpcode])
	if h.Cut = ext > n; !h.Cut {
		end = ext
	}
	h.PayloadOff = uint16(end)
}

// parseTCP parses ports and data offset [H4, H7].
func (h *Headers) parseTCP(frame []byte, l4 int) {
	tcp, n := frame[l4:], len(frame)
	h.L4Type, h.L4Off = nicspec.L4TypeTcp, uint8(l4)
	h.SrcPort = binary.BigEndian.Uint16(tcp)
	h.DstPort = binary.BigEndian.Uint16(tcp[2:])
	end := l4 + tcpMinBytes
	if hdr := int(tcp[12]>>4) * 4; hdr >= tcpMinBytes {
		if h.Cut = l4+hdr > n; !h.Cut {
			end = l4 + hdr
		}
	}
	h.PayloadOff = uint16(end)
}

// bthExt maps BTH opcodes to the length of the extension headers that follow [H7].
var bthExt = func() (t [256]uint8) {
	for _, e := range [...]struct {
		ext     uint8
		opcodes []uint8
	}{
		{16, []uint8{0x06, 0x0a, 0x0c, 0x26, 0x2a, 0x81}},
		{20, []uint8{0x0b, 0x2b}},
		{28, []uint8{0x13, 0x14}},
		{12, []uint8{0x12, 0x65}},
		{4, []uint8{0x03, 0x05, 0x09, 0x0d, 0x0f, 0x10, 0x11, 0x16, 0x17, 0x23, 0x25, 0x29}},
		{8, []uint8{0x64}},
	} {
		for _, op := range e.opcodes {
			t[op] = e.ext
		}
	}
	return t
}()

// SteerKey writes the key that rules are compared with, a nicspec.SteerKey.
func (h *Headers) SteerKey(port int, key *[nicspec.SteerKeySize]byte) {
	*key = [nicspec.SteerKeySize]byte{}
	k := nicspec.SteerKey(key[:])
	k.SetPort(uint8(port))
	k.SetIpProto(h.IPProto)
	key[2] = bit(h.L3Type == nicspec.L3TypeIpv4, 0) | bit(h.L3Type == nicspec.L3TypeIpv6, 1) |
		bit(h.L4Type == nicspec.L4TypeUdp, 2) | bit(h.L4Type == nicspec.L4TypeTcp, 3) |
		bit(h.Roce, 4) | bit(h.Frag, 5) | bit(h.IPLenBad, 6) | bit(h.L4LenBad, 7)
	key[3] = bit(h.VlanCount > 0, 0) | bit(h.VlanCount > 1, 1)
	k.SetEthertype(h.Ethertype)
	k.SetVlanOuter(h.VlanOuter)
	copy(key[8:14], h.DMAC[:])
	k.SetIpTos(h.IPTos)
	k.SetBthOpcode(h.BTHOpcode)
	copy(key[16:32], h.Src[:])
	copy(key[32:48], h.Dst[:])
	k.SetSrcPort(h.SrcPort)
	k.SetDstPort(h.DstPort)
	k.SetDestQp(h.DestQP)
}

func bit(b bool, n int) uint8 {
	if b {
		return 1 << n
	}
	return 0
}
