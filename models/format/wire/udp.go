package wire

import (
	"encoding/binary"
	"fmt"
)

// PseudoHeader returns the sum over a pseudo header, with which a transport checksum begins (RFC
// 768, RFC 8200 8.1). addrs is the source address followed by the destination address, 8 or 32
// bytes; length is that of transport header and data.
func PseudoHeader(addrs []byte, protocol uint8, length uint32) PartialSum {
	return PartialSum(0).Add(addrs).AddUint16(uint16(protocol)).AddUint32(length)
}

// udpSum returns the sum over pseudo header and datagram. With skip, the checksum field counts as
// zero.
func udpSum(ip []byte, d datagram, skip bool) PartialSum {
	udp := ip[d.l4:d.end]
	s := PseudoHeader(addresses(ip), protocolUDP, uint32(len(udp)))
	if skip {
		return s.Add(udp[:udpChecksumOff]).Add(udp[udpSize:])
	}
	return s.Add(udp)
}

// UDPChecksum returns the value for the checksum field in the UDP header of the IP packet ip (IPv4
// or IPv6, unfragmented, no IPv6 extension headers). It is never 0, because 0 means that the
// datagram has no checksum.
func UDPChecksum(ip []byte) (uint16, error) {
	d, f := findUDP(ip, 0, udpSize)
	if f != faultNone {
		return 0, udpError(f, len(ip))
	}
	return udpChecksum(ip, d), nil
}

func udpChecksum(ip []byte, d datagram) uint16 {
	if sum := udpSum(ip, d, true).Checksum(); sum != 0 {
		return sum
	}
	return 0xffff
}

// SetUDPChecksum stores the checksum of the UDP datagram in the IP packet ip.
func SetUDPChecksum(ip []byte) error {
	d, f := findUDP(ip, 0, udpSize)
	if f != faultNone {
		return udpError(f, len(ip))
	}
	binary.BigEndian.PutUint16(ip[d.l4+udpChecksumOff:], udpChecksum(ip, d))
	return nil
}

func udpError(f fault, have int) error {
	return fmt.Errorf("wire: UDP checksum: %s (IP packet of %d bytes)", f, have)
}

// VerifyUDPChecksum checks the UDP checksum of the IP packet ip. The result is NotChecked for a
// checksum of 0, even over IPv6 (RFC 6935; RoCEv2 senders use it), and for a packet without a
// complete datagram header.
func VerifyUDPChecksum(ip []byte) Verdict {
	d, f := findUDP(ip, 0, udpSize)
	if f != faultNone {
		return f.verdict()
	}
	if binary.BigEndian.Uint16(ip[d.l4+udpChecksumOff:]) == 0 {
		return NotChecked
	}
	if udpSum(ip, d, false).Checksum() == 0 {
		return OK
	}
	return Bad
}
