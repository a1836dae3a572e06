package core

import (
	"encoding/binary"

	"nictwin/models/format/wire"
)

// Offsets in IPv4 and IPv6 headers.
const (
	ipv4TOSOff   = 1
	ipv4FragOff  = 6
	ipv4Proto    = 9
	ipv4SumOff   = 10
	ipv4AddrOff  = 12
	ipv4MinBytes = 20
	ipv6Next     = 6
	ipv6AddrOff  = 8
	ipv6Bytes    = 40

	etherTypeIPv4 = 0x0800
	etherTypeIPv6 = 0x86dd
	fragMask      = 0x3fff // more-fragments bit and fragment offset
	protocolTCP   = 6
	protocolUDP   = 17

	macBytes    = 6
	headerBytes = 14
)

// ip returns the IP packet of a frame and its version, 4 or 6; 0 for a frame without a complete IP header.
func ip(frame []byte) (packet []byte, version int) {
	off, kind, err := l3(frame)
	if err {
		return nil, 0
	}
	p := frame[off:]
	switch {
	case kind == etherTypeIPv4 && len(p) >= ipv4MinBytes && p[0]>>4 == 4 && p[0]&0xf >= 5 && len(p) >= int(p[0]&0xf)*4:
		return p, 4
	case kind == etherTypeIPv6 && len(p) >= ipv6Bytes && p[0]>>4 == 6:
		return p, 6
	}
	return nil, 0
}

// l3 returns the offset and the EtherType of the network header; short is set if the frame ends
// before it.
func l3(frame []byte) (off int, kind uint16, short bool) {
	if len(frame) < headerBytes {
		return 0, 0, true
	}
	off, kind, err := wire.L3Offset(frame)
	return off, kind, err != nil
}

// FlowHash returns the same value for all frames of a flow: same addresses, protocol and ports
// (5-tuple), or same MAC addresses if there is no IP. It ignores the ports of fragments, so that
// all fragments of a datagram take one route. The salt makes successive stages of hashing choose
// independently.
func FlowHash(frame []byte, salt uint64) uint64 {
	h := mix(salt)
	if len(frame) < headerBytes {
		return h
	}
	p, version := ip(frame)
	switch version {
	case 4:
		h = mix(h ^ binary.BigEndian.Uint64(p[ipv4AddrOff:]))
		notFragment := binary.BigEndian.Uint16(p[ipv4FragOff:])&fragMask == 0
		return ports(h, p[ipv4Proto], p[int(p[0]&0xf)*4:], notFragment)
	case 6:
		for at := ipv6AddrOff; at < ipv6Bytes; at += 8 {
			h = mix(h ^ binary.BigEndian.Uint64(p[at:]))
		}
		return ports(h, p[ipv6Next], p[ipv6Bytes:], true)
	}
	h = mix(h ^ uint64(binary.BigEndian.Uint32(frame)))
	return mix(h ^ binary.BigEndian.Uint64(frame[4:]))
}

func ports(h uint64, protocol uint8, l4 []byte, notFragment bool) uint64 {
	h = mix(h ^ uint64(protocol))
	if notFragment && (protocol == protocolTCP || protocol == protocolUDP) && len(l4) >= 4 {
		h = mix(h ^ uint64(binary.BigEndian.Uint32(l4)))
	}
	return h
}

// mix makes every bit of the result depend on every bit of x (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Chance returns number n of a seeded random series, in [0, 1). It depends on seed and n only.
func Chance(seed, n uint64) float64 {
	const mantissa = 53
	return float64(mix(mix(seed)^n)>>(64-mantissa)) / (1 << mantissa)
}

// SubSeed derives the seed of part n from the seed of the whole.
func SubSeed(seed, n uint64) uint64 { return mix(seed ^ mix(n+1)) }

// ClassBy names the header field that a frame's class is taken from.
type ClassBy string

// Values of ClassBy.
const (
	ByDSCP ClassBy = "dscp" // the upper three bits of the DSCP (RFC 2474, class selector)
	ByPCP  ClassBy = "pcp"  // the priority of the VLAN tag (IEEE 802.1Q)
	ByNone ClassBy = "none" // all frames have class 0
)

// Class returns a frame's class; a frame without the field has class 0.
func (by ClassBy) Class(frame []byte) uint8 {
	const vlan = 0x8100
	switch by {
	case ByDSCP:
		p, version := ip(frame)
		switch version {
		case 4:
			return p[ipv4TOSOff] >> 5
		case 6:
			return p[0] & 0xf >> 1
		}
	case ByPCP:
		if len(frame) >= headerBytes+2 && binary.BigEndian.Uint16(frame[2*macBytes:]) == vlan {
			return frame[headerBytes] >> 5
		}
	}
	return 0
}
