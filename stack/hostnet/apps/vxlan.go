package apps

import (
	"encoding/binary"
	"fmt"

	"nictwin/stack/hostnet"
)

// VXLANPort is the UDP destination port of VXLAN (RFC 7348, 5).
const VXLANPort = 4789

// vxlanBytes is the payload of UDP: the VXLAN header and an inner Ethernet header, which make a frame of 64 B over
// IPv4. The inner frame has no payload; its source address is the number of the datagram.
const (
	vxlanHeader = 8
	vxlanBytes  = vxlanHeader + 14
	vxlanFlags  = 0x08 // a network identifier is there
	vxlanType   = 0x88b5
)

// VXLANSource sends one datagram after the other to VXLAN networks 1 to `networks` in turn.
type VXLANSource struct {
	schedule
	networks uint32
	sent     uint64
}

// NewVXLANSource returns a source of datagrams.
func NewVXLANSource(networks int, l Load) (*VXLANSource, error) {
	if networks < 1 || networks > 1<<16 {
		return nil, fmt.Errorf("vxlan: %d networks: want 1 to 65536", networks)
	}
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("vxlan: %w", err)
	}
	return &VXLANSource{schedule: schedule{Load: l}, networks: uint32(networks)}, nil
}

// Next implements hostnet.Source.
func (s *VXLANSource) Next(now Ps, b []byte) (n int, ok bool) {
	if !s.due(now) {
		return 0, false
	}
	b = b[:vxlanBytes]
	clear(b)
	be := binary.BigEndian
	b[0] = vxlanFlags
	be.PutUint32(b[4:], (1+uint32(s.sent)%s.networks)<<8)
	inner := b[vxlanHeader:]
	inner[0] = 2
	be.PutUint16(inner[6:], 0x0200|uint16(s.sent>>32)&0xff) // a local unicast address
	be.PutUint32(inner[8:], uint32(s.sent))
	be.PutUint16(inner[12:], vxlanType)
	s.sent++
	return vxlanBytes, true
}

// Longest implements hostnet.Source.
func (s *VXLANSource) Longest() int { return vxlanBytes }

// VXLANSink parses the VXLAN header and the inner Ethernet header of each datagram, counts it by network, and drops it:
// nothing answers or forwards it.
type VXLANSink struct {
	networks []uint64 // datagrams by network
	next     uint64   // lowest number that may follow
	missing  uint64
}

// NewVXLANSink returns a sink for a source with as many networks.
func NewVXLANSink(networks int) *VXLANSink { return &VXLANSink{networks: make([]uint64, networks)} }

// Open implements hostnet.Sink.
func (s *VXLANSink) Open(*hostnet.Flow) error { return nil }

// HeaderBytes implements hostnet.Sink.
func (s *VXLANSink) HeaderBytes() int { return vxlanBytes }

// Take implements hostnet.Sink. Datagrams must keep their order; numbers that are missing were lost.
func (s *VXLANSink) Take(_ *hostnet.Flow, b []byte, n int) error {
	be := binary.BigEndian
	if n != vxlanBytes || len(b) != n || be.Uint32(b) != vxlanFlags<<24 || b[7] != 0 {
		return fmt.Errorf("vxlan: a datagram of %d bytes that begins with % x: want %d, a VXLAN header and an "+
			"Ethernet header", n, b, vxlanBytes)
	}
	inner := b[vxlanHeader:]
	number := uint64(be.Uint16(inner[6:])&0xff)<<32 | uint64(be.Uint32(inner[8:]))
	network := be.Uint32(b[4:]) >> 8
	want := 1 + uint32(number%uint64(len(s.networks)))
	if be.Uint16(inner[12:]) != vxlanType || be.Uint16(inner[6:])>>8 != 2 || network != want {
		return fmt.Errorf("vxlan: datagram %d of network %d, inner header % x: want network %d, type %#04x", number,
			network, inner, want, vxlanType)
	}
	if number < s.next {
		return fmt.Errorf("vxlan: datagram %d came behind %d: want ascending numbers", number, s.next-1)
	}
	s.missing += number - s.next
	s.next = number + 1
	s.networks[network-1]++
	return nil
}

// Networks returns the datagrams of each network. The caller must not change them.
func (s *VXLANSink) Networks() []uint64 { return s.networks }

// Missing returns how many numbers below the latest one did not come.
func (s *VXLANSink) Missing() uint64 { return s.missing }

var (
	_ hostnet.Source = (*VXLANSource)(nil)
	_ hostnet.Sink   = (*VXLANSink)(nil)
)
