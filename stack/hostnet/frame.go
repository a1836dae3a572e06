package hostnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"nictwin/models/nic/nicspec"
)

// Address is the address of a port.
type Address struct {
	MAC [6]byte
	IP  netip.Addr
}

// Ends are the addresses and UDP ports of a flow.
type Ends struct {
	Local, Peer         Address
	LocalPort, PeerPort uint16
}

// Lengths and offsets of headers in bytes.
const (
	etherBytes = 14
	ipv4Bytes  = 20
	ipv6Bytes  = 40
	udpBytes   = 8

	protocolUDP = 17
)

// Codepoints of ECN (RFC 3168).
const (
	ecnCapable = 2 // ECT(0)
	ecnMarked  = 3 // CE
	ecnMask    = 3
)

// HeaderBytes returns the length of the headers of Ethernet, IP and UDP.
func (e *Ends) HeaderBytes() int { return e.l4() + udpBytes }

func (e *Ends) l4() int {
	if e.Local.IP.Is4() {
		return etherBytes + ipv4Bytes
	}
	return etherBytes + ipv6Bytes
}

func (e *Ends) validate() error {
	var errs []error
	for _, a := range [...]struct {
		name string
		ip   netip.Addr
	}{{"local", e.Local.IP}, {"peer", e.Peer.IP}} {
		if !a.ip.IsValid() || a.ip.Is4In6() || a.ip.Zone() != "" {
			errs = append(errs, fmt.Errorf("%s address %v: want an IPv4 or IPv6 address", a.name, a.ip))
		}
	}
	if e.Local.IP.Is4() != e.Peer.IP.Is4() {
		errs = append(errs, fmt.Errorf("addresses %v and %v: want both of one family", e.Local.IP, e.Peer.IP))
	}
	if e.LocalPort == 0 || e.PeerPort == 0 {
		errs = append(errs, fmt.Errorf("UDP ports %d and %d: want 1 to 65535", e.LocalPort, e.PeerPort))
	}
	return errors.Join(errs...)
}

// template returns headers whose lengths are those of an empty datagram. Checksums are the NIC's.
func (e *Ends) template() []byte {
	b := make([]byte, e.HeaderBytes())
	copy(b, e.Peer.MAC[:])
	copy(b[6:], e.Local.MAC[:])
	ip := b[etherBytes:]
	if e.Local.IP.Is4() {
		b[12], b[13] = 0x08, 0x00
		const dontFragment, hops = 0x40, 64
		ip[0], ip[1], ip[6], ip[8], ip[9] = 0x45, ecnCapable, dontFragment, hops, protocolUDP
		copy(ip[12:], e.Local.IP.AsSlice())
		copy(ip[16:], e.Peer.IP.AsSlice())
	} else {
		b[12], b[13] = 0x86, 0xdd
		ip[0], ip[1], ip[6], ip[7] = 0x60, ecnCapable<<4, protocolUDP, 64
		copy(ip[8:], e.Local.IP.AsSlice())
		copy(ip[24:], e.Peer.IP.AsSlice())
	}
	udp := b[e.l4():]
	binary.BigEndian.PutUint16(udp, e.LocalPort)
	binary.BigEndian.PutUint16(udp[2:], e.PeerPort)
	return b
}

// setLengths sets the lengths of IP and UDP headers for a payload of UDP.
func setLengths(header []byte, payload int) {
	be, l4 := binary.BigEndian, len(header)-udpBytes
	be.PutUint16(header[l4+4:], uint16(udpBytes+payload))
	if l4 == etherBytes+ipv4Bytes {
		be.PutUint16(header[etherBytes+2:], uint16(ipv4Bytes+udpBytes+payload))
	} else {
		be.PutUint16(header[etherBytes+4:], uint16(udpBytes+payload))
	}
}

// match returns the steering rule for the frames of the flow's peer. With source, it looks at the source port, too.
func (e *Ends) match(source bool) (value, mask nicspec.SteerKeyFields) {
	value.IsUdp, mask.IsUdp = true, true
	value.DstPort, mask.DstPort = e.LocalPort, 0xffff
	value.Dmac = e.Local.MAC
	for i := range mask.Dmac {
		mask.Dmac[i] = 0xff
	}
	copy(value.DstAddr[:], e.Local.IP.AsSlice())
	for i := range e.Local.IP.AsSlice() {
		mask.DstAddr[i] = 0xff
	}
	if source {
		value.SrcPort, mask.SrcPort = e.PeerPort, 0xffff
	}
	return value, mask
}

// datagram holds the fields of a received frame's headers.
type datagram struct {
	payload int // offset of UDP's payload
	bytes   int // its length
	ecn     uint8
}

// parse reads the headers of IP and UDP at the offsets that the NIC reports. b is the beginning of a frame; the NIC has
// checked the lengths against the frame.
func parse(b []byte, l3, l4 int) (d datagram, ok bool) {
	if l3 < etherBytes || l4 < l3+ipv4Bytes || l4+udpBytes > len(b) {
		return d, false
	}
	switch b[l3] >> 4 {
	case 4:
		d.ecn = b[l3+1] & ecnMask
	case 6:
		d.ecn = b[l3+1] >> 4 & ecnMask
	default:
		return d, false
	}
	d.payload = l4 + udpBytes
	d.bytes = int(binary.BigEndian.Uint16(b[l4+4:])) - udpBytes
	return d, d.bytes >= 0
}

// announcement returns a gratuitous ARP request (RFC 5227, 3), by which a switch learns the port of an IPv4 address.
func announcement(a Address) []byte {
	b := make([]byte, nicspec.FrameMin)
	for i := range 6 {
		b[i] = 0xff
	}
	copy(b[6:], a.MAC[:])
	copy(b[12:], []byte{0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1})
	copy(b[22:], a.MAC[:])
	copy(b[28:], a.IP.AsSlice())
	copy(b[38:], a.IP.AsSlice())
	return b
}
