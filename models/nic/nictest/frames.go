package nictest

import (
	"encoding/binary"
	"nictwin/models/format/wire"
)

const (
	ethBytes  = 14
	ipv4Bytes = 20
	ipCsumOff = 10
)

// RoceFrame returns a RoCEv2 frame over IPv4 without its checksums: a UD SEND to QP 7 with so many
// bytes of payload.
func RoceFrame(payload int) []byte {
	udp := 8 + 12 + payload + 4
	f := make([]byte, ethBytes+ipv4Bytes+udp)
	copy(f, Pattern(12, 1))
	f[12], f[13] = 8, 0
	ip := f[ethBytes:]
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(ipv4Bytes+udp))
	copy(ip[12:20], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	u := ip[ipv4Bytes:]
	u[0], u[1], u[2], u[3] = 0xc0, 0, 0x12, 0xb7
	binary.BigEndian.PutUint16(u[4:], uint16(udp))
	copy(u[8:], []byte{4, 0x40, 0xff, 0xff, 0, 0, 0, 7, 0x80, 0, 0, 9})
	copy(u[20:], Pattern(payload, 2))
	return f
}

// FixIP inserts the checksum of an IPv4 header without options (RFC 1071).
func FixIP(f []byte) {
	ip := f[ethBytes : ethBytes+ipv4Bytes]
	ip[ipCsumOff], ip[ipCsumOff+1] = 0, 0
	sum := uint32(0)
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	binary.BigEndian.PutUint16(ip[ipCsumOff:], ^uint16(sum))
}

// IPFrame returns n bytes with an IP header at l3, IPv6 or IPv4 with its checksum, and the matching
// EtherType before it. Its traffic class is tos.
func IPFrame(n, l3 int, v6 bool, tos uint8) []byte {
	f := Pattern(max(n, l3+40), 3)
	version, kind := byte(0x45), uint16(0x0800)
	if v6 {
		version, kind = 0x60|tos>>4, 0x86dd
	}
	binary.BigEndian.PutUint16(f[l3-2:], kind)
	f[l3] = version
	if v6 {
		f[l3+1] = tos<<4 | 7
		return f[:n]
	}
	f[l3+1] = tos
	binary.BigEndian.PutUint16(f[l3+10:], 0)
	binary.BigEndian.PutUint16(f[l3+10:], wire.Checksum(f[l3:l3+20]))
	return f[:n]
}
