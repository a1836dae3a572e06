package wire

// Place holds the offsets of the parts of a RoCEv2 frame, in bytes from its start.
type Place struct {
	IP  int // of the IPv4 or IPv6 header
	BTH int
	End int // one past the ICRC
}

// FindRoCE finds the RoCEv2 packet of an Ethernet frame with up to two VLAN tags: a whole datagram
// to UDP port 4791 with room for BTH and ICRC. It does not check checksums and allocates nothing.
func FindRoCE(frame []byte) (p Place, ok bool) {
	ip, f := frameIP(frame)
	if f != faultNone {
		return Place{}, false
	}
	d, f := findUDP(ip, Port, minRoCEUDP)
	if f != faultNone {
		return Place{}, false
	}
	p.IP = len(frame) - len(ip)
	p.BTH, p.End = p.IP+d.l4+udpSize, p.IP+d.end
	return p, true
}

// Addresses returns the adjacent source and destination addresses of the IP packet that FindRoCE
// found at ip.
func Addresses(ip []byte) []byte { return addresses(ip) }
