package wire

import (
	"encoding/binary"
	"math/bits"
)

// PartialSum is a ones' complement sum in progress (RFC 1071). Only its methods can interpret its
// value; the zero value is the empty sum.
type PartialSum uint64

// Add adds the bytes of b as 16-bit big-endian words. An odd last byte counts
// as the high half of a word, so only the last piece added may have odd length.
func (s PartialSum) Add(b []byte) PartialSum {
	// Except for a final byte swap, the sum does not depend on byte order (RFC 1071 2 (B)), so
	// eight bytes at a time are summed as little-endian numbers.
	acc, c := uint64(s), uint64(0)
	for len(b) >= 32 {
		acc, c = bits.Add64(acc, binary.LittleEndian.Uint64(b), 0)
		acc, c = bits.Add64(acc, binary.LittleEndian.Uint64(b[8:]), c)
		acc, c = bits.Add64(acc, binary.LittleEndian.Uint64(b[16:]), c)
		acc, c = bits.Add64(acc, binary.LittleEndian.Uint64(b[24:]), c)
		acc, c = bits.Add64(acc, 0, c)
		acc += c
		b = b[32:]
	}
	for len(b) >= 8 {
		acc, c = bits.Add64(acc, binary.LittleEndian.Uint64(b), 0)
		acc += c
		b = b[8:]
	}
	var tail uint64
	for i, x := range b {
		tail |= uint64(x) << (8 * i)
	}
	acc, c = bits.Add64(acc, tail, 0)
	return PartialSum(acc + c)
}

// AddUint16 adds one word.
func (s PartialSum) AddUint16(v uint16) PartialSum {
	acc, c := bits.Add64(uint64(s), uint64(bits.ReverseBytes16(v)), 0)
	return PartialSum(acc + c)
}

// AddUint32 adds the two words of a big-endian 32-bit number.
func (s PartialSum) AddUint32(v uint32) PartialSum {
	return s.AddUint16(uint16(v >> 16)).AddUint16(uint16(v))
}

// Checksum returns the complement of the folded sum: the value of a checksum field. Over bytes that
// include a correct checksum it is 0.
func (s PartialSum) Checksum() uint16 {
	v := uint64(s)
	v = v>>32 + v&0xffffffff
	v = v>>16 + v&0xffff
	v = v>>16 + v&0xffff
	v = v>>16 + v&0xffff
	return ^bits.ReverseBytes16(uint16(v))
}

// Checksum returns the Internet checksum of b (RFC 1071).
func Checksum(b []byte) uint16 { return PartialSum(0).Add(b).Checksum() }

const (
	ipv4MinSize     = 20
	ipv4LengthOff   = 2
	ipv4FragOff     = 6
	ipv4FragMask    = 0x3fff // bit "more fragments" and the fragment offset
	ipv4TTLOff      = 8
	ipv4ProtocolOff = 9
	ipv4ChecksumOff = 10
	ipv4AddressOff  = 12

	ipv6Size       = 40
	ipv6NextOff    = 6
	ipv6HopsOff    = 7
	ipv6AddressOff = 8

	udpSize        = 8
	udpPortOff     = 2
	udpLengthOff   = 4
	udpChecksumOff = 6

	protocolUDP = 17
)

// ipv4HeaderLen returns the header's length in bytes, options included.
func ipv4HeaderLen(ip []byte) (int, error) {
	if len(ip) < ipv4MinSize {
		return 0, &TruncatedError{Header: "IPv4", Need: ipv4MinSize, Have: len(ip)}
	}
	if v := ip[0] >> 4; v != 4 {
		return 0, &ValueError{Header: "IPv4", Field: "version", Got: uint64(v), Want: "4"}
	}
	n := int(ip[0]&0xf) * 4
	if n < ipv4MinSize {
		return 0, &ValueError{Header: "IPv4", Field: "IHL", Got: uint64(ip[0] & 0xf), Want: "5..15"}
	}
	if len(ip) < n {
		return 0, &TruncatedError{Header: "IPv4 options", Need: n, Have: len(ip)}
	}
	return n, nil
}

// IPv4HeaderChecksum returns the checksum of the IPv4 header at the start of ip, whatever its
// checksum field contains.
func IPv4HeaderChecksum(ip []byte) (uint16, error) {
	n, err := ipv4HeaderLen(ip)
	if err != nil {
		return 0, err
	}
	return PartialSum(0).Add(ip[:ipv4ChecksumOff]).Add(ip[ipv4ChecksumOff+2 : n]).Checksum(), nil
}

// VerifyIPv4Header checks the header checksum of the IPv4 packet ip. Bytes
// that are not an IPv4 header are NotChecked.
func VerifyIPv4Header(ip []byte) Verdict {
	if len(ip) < ipv4MinSize || ip[0]>>4 != 4 || ip[0]&0xf < 5 {
		return NotChecked
	}
	n := int(ip[0]&0xf) * 4
	if len(ip) < n {
		return Truncated
	}
	// 0x0000 and 0xFFFF are the same value in ones' complement, so the sum is compared instead of
	// the field.
	if Checksum(ip[:n]) == 0 {
		return OK
	}
	return Bad
}

// SetIPv4HeaderChecksum stores the header checksum of the IPv4 packet ip.
func SetIPv4HeaderChecksum(ip []byte) error {
	sum, err := IPv4HeaderChecksum(ip)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(ip[ipv4ChecksumOff:], sum)
	return nil
}
