package transport

import (
	"encoding/binary"
	"net/netip"

	"nictwin/models/format/wire"
	"nictwin/models/sim/field"
)

// Address is one end of a path.
type Address struct {
	MAC [6]byte
	IP  netip.Addr
}

// Path is an address vector (struct ibv_ah_attr): how packets reach the peer.
type Path struct {
	Local, Peer  Address
	TrafficClass uint8  // traffic class of IPv6, or ToS of IPv4: DSCP in the upper six bits, ECN in the lower two
	HopLimit     uint8  // TTL for IPv4
	SourcePort   uint16 // UDP source port: entropy for switches; spraying counts up from it
}

// Validate returns every error of the path.
func (p *Path) Validate() []error {
	var errs []error
	if p.Local.IP.IsValid() && p.Peer.IP.IsValid() && p.Local.IP.Unmap().Is4() != p.Peer.IP.Unmap().Is4() {
		errs = append(errs, field.Errorf("path.peer.ip", "%v: want an address of the same family as %s %v", p.Peer.IP,
			field.Path("path.local.ip"), p.Local.IP))
	}
	for _, end := range []struct {
		at field.Path
		ip netip.Addr
	}{{"path.local.ip", p.Local.IP}, {"path.peer.ip", p.Peer.IP}} {
		if !end.ip.IsValid() {
			errs = append(errs, field.Errorf(end.at, "is not set: want an IPv4 or IPv6 address"))
		}
	}
	if p.HopLimit == 0 {
		errs = append(errs, field.Errorf("path.hop_limit", "is 0: want 1 to 255"))
	}
	return errs
}

const (
	etherSize = 14
	ipv4Size  = 20
	ipv6Size  = 40
	udpSize   = 8
)

// AH is an address handle: prepared Ethernet, IP and UDP headers, which lack only lengths, source port and IPv4
// checksum.
type AH struct {
	path Path
	head [etherSize + ipv6Size + udpSize]byte
	size int
	sum  uint32 // checksum of an IPv4 header without its length field
}

// NewAH prepares the headers of a valid path.
func NewAH(p Path) *AH {
	a := &AH{path: p}
	a.init(p)
	return a
}

// init prepares the headers for a path.
func (a *AH) init(p Path) {
	*a = AH{path: p}
	b := a.head[:]
	copy(b, p.Peer.MAC[:])
	copy(b[6:], p.Local.MAC[:])
	src, dst := p.Local.IP.Unmap(), p.Peer.IP.Unmap()
	ip := b[etherSize:]
	const protocolUDP = 17
	if src.Is4() {
		binary.BigEndian.PutUint16(b[12:], 0x0800)
		ip[0], ip[1], ip[6], ip[8], ip[9] = 0x45, p.TrafficClass, 0x40, p.HopLimit, protocolUDP // 0x40: flag DF
		s, d := src.As4(), dst.As4()
		copy(ip[12:], s[:])
		copy(ip[16:], d[:])
		a.size = etherSize + ipv4Size + udpSize
		for i := 0; i < ipv4Size; i += 2 {
			a.sum += uint32(binary.BigEndian.Uint16(ip[i:]))
		}
	} else {
		binary.BigEndian.PutUint16(b[12:], 0x86dd)
		ip[0], ip[1], ip[6], ip[7] = 0x60|p.TrafficClass>>4, p.TrafficClass<<4, protocolUDP, p.HopLimit
		s, d := src.As16(), dst.As16()
		copy(ip[8:], s[:])
		copy(ip[24:], d[:])
		a.size = etherSize + ipv6Size + udpSize
	}
	binary.BigEndian.PutUint16(b[a.size-6:], wire.Port)
}

// put writes the headers for n bytes of UDP payload, and returns their length.
func (a *AH) put(dst []byte, n int, port uint16) int {
	copy(dst, a.head[:a.size])
	udp := dst[a.size-udpSize:]
	binary.BigEndian.PutUint16(udp, port)
	binary.BigEndian.PutUint16(udp[4:], uint16(n+udpSize))
	ip := dst[etherSize:]
	if a.size != etherSize+ipv4Size+udpSize {
		binary.BigEndian.PutUint16(ip[4:], uint16(n+udpSize))
		return a.size
	}
	total := uint32(n + udpSize + ipv4Size)
	binary.BigEndian.PutUint16(ip[2:], uint16(total))
	s := a.sum + total
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	binary.BigEndian.PutUint16(ip[10:], ^uint16(s))
	return a.size
}
