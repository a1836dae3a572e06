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

// Wire says what a network may do to datagrams besides losing them.
type Wire struct {
	Doubles  bool // a copy may follow a datagram
	Reorders bool // later datagrams may overtake one
}

// VXLANSink parses the VXLAN header and the inner Ethernet header of each datagram, counts it by network, and drops it:
// nothing answers or forwards it. Copies that the network made are not counted.
type VXLANSink struct {
	wire     Wire
	networks []uint64 // datagrams by network
	next     uint64   // lowest number that is above all that came
	latest   uint64   // number of the datagram that came last
	taken    []uint64 // bits by number: it came; kept only where the network doubles or reorders datagrams
	stats    VXLANStats
}

// VXLANStats counts what a sink got.
type VXLANStats struct {
	Missing uint64 // numbers below the highest one that did not come
	Late    uint64 // datagrams that later ones have overtaken
	Copies  uint64 // datagrams that came again
}

// NewVXLANSink returns a sink for a source with as many networks.
func NewVXLANSink(networks int, w Wire) *VXLANSink {
	return &VXLANSink{networks: make([]uint64, networks), wire: w}
}

// Open implements hostnet.Sink.
func (s *VXLANSink) Open(*hostnet.Flow) error { return nil }

// HeaderBytes implements hostnet.Sink.
func (s *VXLANSink) HeaderBytes() int { return vxlanBytes }

// VXLANNumber returns the number of a datagram, and false if its payload is not one of a VXLANSource.
func VXLANNumber(b []byte) (number uint64, ok bool) {
	if len(b) != vxlanBytes {
		return 0, false
	}
	inner := b[vxlanHeader:]
	return uint64(binary.BigEndian.Uint16(inner[6:])&0xff)<<32 | uint64(binary.BigEndian.Uint32(inner[8:])), true
}

// Take implements hostnet.Sink. Datagrams come once and in order, unless the network doubles or reorders them; numbers
// that are missing were lost.
func (s *VXLANSink) Take(_ *hostnet.Flow, b []byte, n int) error {
	be := binary.BigEndian
	if n != vxlanBytes || len(b) != n || be.Uint32(b) != vxlanFlags<<24 || b[7] != 0 {
		return fmt.Errorf("vxlan: a datagram of %d bytes that begins with % x: want %d, a VXLAN header and an "+
			"Ethernet header", n, b, vxlanBytes)
	}
	inner := b[vxlanHeader:]
	number, _ := VXLANNumber(b)
	network := be.Uint32(b[4:]) >> 8
	want := 1 + uint32(number%uint64(len(s.networks)))
	if be.Uint16(inner[12:]) != vxlanType || be.Uint16(inner[6:])>>8 != 2 || network != want {
		return fmt.Errorf("vxlan: datagram %d of network %d, inner header % x: want network %d, type %#04x", number,
			network, inner, want, vxlanType)
	}
	fresh, err := s.number(number)
	if fresh {
		s.networks[network-1]++
	}
	return err
}

// number takes the number of a datagram, and reports whether it has not come before.
func (s *VXLANSink) number(n uint64) (fresh bool, err error) {
	before := s.latest
	s.latest = n
	if n >= s.next {
		s.stats.Missing += n - s.next
		s.next = n + 1
		s.note(n)
		return true, nil
	}
	switch came := s.came(n); {
	case !s.wire.Doubles && !s.wire.Reorders:
		err = fmt.Errorf("vxlan: datagram %d came behind %d: want ascending numbers", n, s.next-1)
	case came && !s.wire.Doubles:
		err = fmt.Errorf("vxlan: datagram %d came twice: want it once", n)
	case came && !s.wire.Reorders && n != before:
		err = fmt.Errorf("vxlan: datagram %d came again behind %d: want a copy right behind it", n, before)
	case came:
		s.stats.Copies++
	case !s.wire.Reorders:
		err = fmt.Errorf("vxlan: datagram %d came behind %d: want ascending numbers", n, s.next-1)
	default:
		s.stats.Missing--
		s.stats.Late++
		s.note(n)
		fresh = true
	}
	return fresh, err
}

// note notes that a number came.
func (s *VXLANSink) note(n uint64) {
	if s.wire == (Wire{}) {
		return
	}
	for n/64 >= uint64(len(s.taken)) {
		s.taken = append(s.taken, 0)
	}
	s.taken[n/64] |= 1 << (n % 64)
}

// came reports whether a number was noted.
func (s *VXLANSink) came(n uint64) bool {
	return n/64 < uint64(len(s.taken)) && s.taken[n/64]>>(n%64)&1 == 1
}

// Networks returns the datagrams of each network. The caller must not change them.
func (s *VXLANSink) Networks() []uint64 { return s.networks }

// Latest returns the number of the datagram that came last.
func (s *VXLANSink) Latest() uint64 { return s.latest }

// Stats returns the counters.
func (s *VXLANSink) Stats() VXLANStats { return s.stats }

var (
	_ hostnet.Source = (*VXLANSource)(nil)
	_ hostnet.Sink   = (*VXLANSink)(nil)
)
