package probe

import "encoding/binary"

// Datagrams identifies a sender of UDP datagrams by destination address and ports.
type Datagrams struct {
	MAC      [6]byte
	From, To uint16
}

// datagrams follows a sender of datagrams.
type datagrams struct {
	Sender
	message func(payload []byte) (number int, ok bool)
	seen    []bool
}

// FollowDatagrams follows a sender of datagrams. message returns the message that begins with a payload, and false if
// none does; a message may begin more than once.
func (w *Wire) FollowDatagrams(d Datagrams, s Sender, message func(payload []byte) (number int, ok bool)) {
	w.grams[d] = &datagrams{Sender: s, message: message, seen: make([]bool, s.Count)}
}

// datagram looks at a frame that a server sends.
func (w *Wire) datagram(b []byte) {
	const ether, ipv4, ipv6, udp, protocol = 14, 20, 40, 8, 17
	be, l4 := binary.BigEndian, 0
	switch kind := be.Uint16(b[ether-2:]); {
	case kind == 0x0800 && len(b) >= ether+ipv4+udp && b[ether] == 0x45 && b[ether+9] == protocol:
		l4 = ether + ipv4
	case kind == 0x86dd && len(b) >= ether+ipv6+udp && b[ether+6] == protocol:
		l4 = ether + ipv6
	default:
		return
	}
	end := l4 + int(be.Uint16(b[l4+4:]))
	s := w.grams[Datagrams{MAC: [6]byte(b), From: be.Uint16(b[l4:]), To: be.Uint16(b[l4+2:])}]
	if s == nil || end < l4+udp || end > len(b) {
		return
	}
	if n, ok := s.message(b[l4+udp : end]); ok && n < len(s.seen) && !s.seen[n] {
		s.seen[n] = true
		w.first(&s.Sender, n)
	}
}
