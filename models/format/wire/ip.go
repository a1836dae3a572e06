package wire

import "encoding/binary"

const (
	etherSize     = 14
	vlanTagSize   = 4
	maxVLANTags   = 2
	etherTypeIPv4 = 0x0800
	etherTypeIPv6 = 0x86dd
	etherTypeVLAN = 0x8100
	etherTypeQinQ = 0x88a8
)

// L3Offset returns the offset of an Ethernet frame's network header, past up to two VLAN tags
// (0x8100, 0x88A8), and the EtherType before it. If the frame has no room for the EtherType it
// returns a *TruncatedError.
func L3Offset(frame []byte) (off int, etherType uint16, err error) {
	off, etherType, f := findL3(frame)
	switch {
	case f == faultNone:
		return off, etherType, nil
	case off == etherSize:
		return 0, 0, &TruncatedError{Header: "Ethernet", Need: etherSize, Have: len(frame)}
	}
	return 0, 0, &TruncatedError{Header: "VLAN tag", Need: vlanTagSize, Have: len(frame) - (off - vlanTagSize)}
}

// findL3 is L3Offset without allocation. With a fault, off is the length that the frame should have
// at least.
func findL3(frame []byte) (off int, etherType uint16, f fault) {
	for off = etherSize; ; off += vlanTagSize {
		if len(frame) < off {
			return off, 0, faultEthernet
		}
		etherType = binary.BigEndian.Uint16(frame[off-2:])
		if etherType != etherTypeVLAN && etherType != etherTypeQinQ || off == etherSize+maxVLANTags*vlanTagSize {
			return off, etherType, faultNone
		}
	}
}

// fault is the reason why a packet has no usable datagram. Faults contain no numbers, because they
// are found on paths that must not allocate.
type fault uint8

const (
	faultNone fault = iota
	faultEthernet
	faultEtherType
	faultVersion
	faultIPHeader
	faultFragment
	faultProtocol
	faultUDPHeader
	faultPort
	faultUDPLength
	faultCut
	numFaults
)

var faultText = [numFaults]string{
	"",
	"Ethernet header or VLAN tag cut short",
	"EtherType is neither IPv4 (0x0800) nor IPv6 (0x86dd)",
	"IP version does not agree with the EtherType, or is neither 4 nor 6",
	"IP header cut short, or IHL below 5",
	"IP fragment: a datagram must be whole",
	"IP protocol or next header is not UDP (17)",
	"UDP header cut short: needs 8 bytes",
	"UDP destination port is not 4791",
	"UDP length is too small for what it must hold",
	"UDP length exceeds the bytes there are",
}

func (f fault) String() string { return faultText[f] }

func (f fault) verdict() Verdict {
	switch f {
	case faultNone:
		return OK
	case faultUDPLength, faultCut:
		return Truncated
	}
	return NotChecked
}

// frameIP returns the IP packet of an Ethernet frame, including bytes after its end.
func frameIP(frame []byte) ([]byte, fault) {
	off, etherType, f := findL3(frame)
	if f != faultNone {
		return nil, f
	}
	want := byte(4)
	switch etherType {
	case etherTypeIPv4:
	case etherTypeIPv6:
		want = 6
	default:
		return nil, faultEtherType
	}
	if len(frame) > off && frame[off]>>4 != want {
		return nil, faultVersion
	}
	return frame[off:], faultNone
}

// datagram holds the offsets of the start and the end of an IP packet's UDP datagram.
type datagram struct{ l4, end int }

// findUDP looks for a complete, unfragmented UDP datagram of at least min bytes in ip. The UDP
// length determines its end; the IP length is ignored. IPv6 extension headers are not followed.
// port 0 means any port.
func findUDP(ip []byte, port uint16, min int) (d datagram, f fault) {
	d.l4, f = findL4(ip)
	if f != faultNone {
		return datagram{}, f
	}
	if len(ip) < d.l4+udpSize {
		return datagram{}, faultUDPHeader
	}
	udp := ip[d.l4:]
	if port != 0 && binary.BigEndian.Uint16(udp[udpPortOff:]) != port {
		return datagram{}, faultPort
	}
	n := int(binary.BigEndian.Uint16(udp[udpLengthOff:]))
	if n < min {
		return datagram{}, faultUDPLength
	}
	d.end = d.l4 + n
	if d.end > len(ip) {
		return datagram{}, faultCut
	}
	return d, faultNone
}

// findL4 returns the offset at which the UDP header of an IP packet should begin.
func findL4(ip []byte) (int, fault) {
	if len(ip) == 0 {
		return 0, faultIPHeader
	}
	switch ip[0] >> 4 {
	case 4:
		l4 := int(ip[0]&0xf) * 4
		if len(ip) < ipv4MinSize || l4 < ipv4MinSize || len(ip) < l4 {
			return 0, faultIPHeader
		}
		if ip[ipv4ProtocolOff] != protocolUDP {
			return 0, faultProtocol
		}
		if binary.BigEndian.Uint16(ip[ipv4FragOff:])&ipv4FragMask != 0 {
			return 0, faultFragment
		}
		return l4, faultNone
	case 6:
		if len(ip) < ipv6Size {
			return 0, faultIPHeader
		}
		if ip[ipv6NextOff] != protocolUDP {
			return 0, faultProtocol
		}
		return ipv6Size, faultNone
	}
	return 0, faultVersion
}

// addresses returns the source and destination addresses, which are adjacent.
func addresses(ip []byte) []byte {
	if ip[0]>>4 == 4 {
		return ip[ipv4AddressOff:ipv4MinSize]
	}
	return ip[ipv6AddressOff:ipv6Size]
}
