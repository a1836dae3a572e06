package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// minRoCEUDP is the smallest UDP length of a RoCEv2 packet: UDP header, BTH and ICRC.
const minRoCEUDP = udpSize + BTHSize + ICRCSize

// crcOfOnes is the CRC-32 of the eight bytes of ones that stand for the
// InfiniBand local route header.
var crcOfOnes = crc32.ChecksumIEEE([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})

// ICRCCheck is the outcome of checking an ICRC.
type ICRCCheck struct {
	Verdict Verdict // NotChecked: not a RoCEv2 packet
	// Want is the CRC computed over the packet, Got the ICRC that it contains. Both are 0 unless
	// the verdict is OK or Bad. On the wire the least significant byte is first.
	Want, Got uint32
	reason    fault
}

// Err returns nil for OK, and otherwise an error that describes the fault.
func (c ICRCCheck) Err() error {
	switch c.Verdict {
	case OK:
		return nil
	case Bad:
		return fmt.Errorf("wire: ICRC is 0x%08x, want 0x%08x", c.Got, c.Want)
	}
	return fmt.Errorf("wire: ICRC %s: %s", c.Verdict, c.reason)
}

// CoveredCRC returns the ICRC of a packet whose layout is known: `ip` begins with an IPv4 or IPv6
// header, the UDP header begins at offset `l4`, and the ICRC, which need not be there yet, at offset
// `end`. Fields that routers and switches may change are replaced by ones (A17): IPv4 ToS, TTL and
// header checksum; IPv6 traffic class, flow label and hop limit; UDP checksum; BTH byte 4. It panics
// if `l4` is inside the IP header or if there is no room for a BTH before `end`.
func CoveredCRC(ip []byte, l4, end int) uint32 {
	const bth = udpSize + BTHSize
	var head [ipv6Size + bth]byte
	fixed := ipv4MinSize
	if ip[0]>>4 == 6 {
		fixed = ipv6Size
		copy(head[:], ip[:ipv6Size])
		head[0] |= 0x0f
		head[1], head[2], head[3], head[ipv6HopsOff] = 0xff, 0xff, 0xff, 0xff
	} else {
		copy(head[:], ip[:ipv4MinSize])
		head[1], head[ipv4TTLOff] = 0xff, 0xff
		head[ipv4ChecksumOff], head[ipv4ChecksumOff+1] = 0xff, 0xff
	}
	crc, n := crcOfOnes, fixed
	if l4 > fixed { // IPv4 options
		crc = crcShort(crcShort(crc, head[:fixed]), ip[fixed:l4])
		n = 0
	}
	rest := ip[l4+bth : end]
	h := head[n : n+bth]
	copy(h, ip[l4:l4+bth])
	h[udpChecksumOff], h[udpChecksumOff+1], h[udpSize+4] = 0xff, 0xff, 0xff
	crc = crcShort(crc, head[:n+bth])
	return crc32.Update(crc, crc32.IEEETable, rest)
}

// ICRC returns the invariant CRC of the RoCEv2 packet that begins at the IP header in ip. The UDP
// length determines its end; the last four bytes, whatever their contents, are reserved for the
// ICRC.
func ICRC(ip []byte) (uint32, error) {
	d, f := findUDP(ip, Port, minRoCEUDP)
	if f != faultNone {
		return 0, icrcError(f, len(ip))
	}
	return CoveredCRC(ip, d.l4, d.end-ICRCSize), nil
}

func icrcError(f fault, have int) error {
	return fmt.Errorf("wire: ICRC: %s (given %d bytes)", f, have)
}

// VerifyICRC checks the ICRC of the IP packet ip.
func VerifyICRC(ip []byte) ICRCCheck {
	d, f := findUDP(ip, Port, minRoCEUDP)
	if f != faultNone {
		return ICRCCheck{Verdict: f.verdict(), reason: f}
	}
	c := ICRCCheck{Verdict: Bad, Want: CoveredCRC(ip, d.l4, d.end-ICRCSize),
		Got: binary.LittleEndian.Uint32(ip[d.end-ICRCSize:])}
	if c.Got == c.Want {
		c.Verdict = OK
	}
	return c
}

// InsertICRC stores the ICRC of the IP packet ip in its last four bytes. A UDP checksum other than
// 0 covers these bytes, so it must be set afterwards.
func InsertICRC(ip []byte) error {
	d, f := findUDP(ip, Port, minRoCEUDP)
	if f != faultNone {
		return icrcError(f, len(ip))
	}
	putICRC(ip, d)
	return nil
}

func putICRC(ip []byte, d datagram) {
	icrc := d.end - ICRCSize
	binary.LittleEndian.PutUint32(ip[icrc:], CoveredCRC(ip, d.l4, icrc))
}

// FrameICRC is ICRC for an Ethernet frame with up to two VLAN tags.
func FrameICRC(frame []byte) (uint32, error) {
	ip, f := frameIP(frame)
	if f != faultNone {
		return 0, icrcError(f, len(frame))
	}
	return ICRC(ip)
}

// VerifyFrameICRC is VerifyICRC for an Ethernet frame with up to two VLAN tags.
func VerifyFrameICRC(frame []byte) ICRCCheck {
	ip, f := frameIP(frame)
	if f != faultNone {
		return ICRCCheck{Verdict: f.verdict(), reason: f}
	}
	return VerifyICRC(ip)
}

// InsertFrameICRC is InsertICRC for an Ethernet frame with up to two VLAN tags.
func InsertFrameICRC(frame []byte) error {
	ip, f := frameIP(frame)
	if f != faultNone {
		return icrcError(f, len(frame))
	}
	return InsertICRC(ip)
}

// SealFrame completes a RoCEv2 frame with valid lengths: it stores the ICRC, then the UDP checksum
// (0 unless withUDP is set), then the IPv4 header checksum. The order matters: the UDP checksum
// covers the ICRC.
func SealFrame(frame []byte, withUDP bool) error {
	ip, f := frameIP(frame)
	if f != faultNone {
		return icrcError(f, len(frame))
	}
	d, f := findUDP(ip, Port, minRoCEUDP)
	if f != faultNone {
		return icrcError(f, len(frame))
	}
	putICRC(ip, d)
	sum := uint16(0)
	if withUDP {
		sum = udpChecksum(ip, d)
	}
	binary.BigEndian.PutUint16(ip[d.l4+udpChecksumOff:], sum)
	if ip[0]>>4 == 4 {
		return SetIPv4HeaderChecksum(ip)
	}
	return nil
}
