package core

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
)

const (
	ecnMask = 3 // ECN bits of ToS or traffic class
	ecnCE   = 3 // congestion experienced (CE)
)

// MarksCE reports whether a queue marks a frame [E1].
func (q *Queue) MarksCE(h *Headers) bool {
	ecn := h.IPTos & ecnMask
	return q.EcnMode == 1 && h.L3Type != nicspec.L3TypeNone && ecn != 0 && ecn != ecnCE
}

// SetECN sets the ECN value of an IP header, which begins with its version, and updates the IPv4
// checksum incrementally: a wrong one stays wrong.
func SetECN(ip []byte, ecn uint8) {
	if ip[0]>>4 != 4 {
		const shift = 4 // the traffic class spans two bytes
		ip[1] = ip[1]&^(ecnMask<<shift) | ecn<<shift
		return
	}
	was := binary.BigEndian.Uint16(ip)
	ip[1] = ip[1]&^ecnMask | ecn
	now := binary.BigEndian.Uint16(ip)
	if was == now {
		return
	}
	sum := uint32(^binary.BigEndian.Uint16(ip[ipv4CsumOff:])) + uint32(^was) + uint32(now) // RFC 1624, eqn. 3
	sum = sum&0xffff + sum>>16
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(ip[ipv4CsumOff:], ^uint16(sum))
}

// MarkCE marks a received frame [E1].
func MarkCE(frame []byte, h *Headers) { SetECN(frame[h.L3Off:], ecnCE) }

// ecnFits reports whether a frame to be sent has an IP header at l3 whose ECN bits a queue sets
// [E2].
func ecnFits(l3 int, f []byte) bool {
	const typeBytes = 2
	if l3 < etherBytes || l3 >= len(f) {
		return false
	}
	switch binary.BigEndian.Uint16(f[l3-typeBytes:]) {
	case typeIPv4:
		return f[l3]>>4 == 4 && l3+ipv4MinBytes <= headerLimit(f)
	case typeIPv6:
		return f[l3]>>4 == 6 && l3+ipv6Bytes <= headerLimit(f)
	}
	return false
}
