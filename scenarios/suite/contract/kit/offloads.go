package kit

import (
	"encoding/binary"
	"hash/crc32"

	"nictwin/models/nic/nicspec"
)

func crc32c(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcRange returns the bytes that the CRC-32C covers [X3]; ok is false for frames without one.
func crcRange(b []byte, f *nicspec.RxCqeFields) (from, to int, ok bool) {
	n, l3, l4 := len(b), int(f.L3Off), int(f.L4Off)
	from, to = int(f.PayloadOff), n
	switch {
	case f.L4Type == nicspec.L4TypeUdp:
		u := int(BigEndian.Uint16(b[l4+4:]))
		if to = l4 + u; f.Roce {
			to -= 4
		}
		if u < 8 || to > n {
			to = n
		}
	case f.L3Type != nicspec.L3TypeNone && !f.IpLenBad:
		to = l3 + int(BigEndian.Uint16(b[l3+2:]))
		if f.L3Type == nicspec.L3TypeIpv6 {
			to = l3 + 40 + int(BigEndian.Uint16(b[l3+4:]))
		}
	}
	whole := true
	if f.Roce {
		whole = l4+20+ExtOf[f.BthOpcode] <= n
	} else if f.L4Type == nicspec.L4TypeTcp {
		d := 4 * int(b[l4+12]>>4)
		whole = d < 20 || l4+d <= n
	}
	return from, to, !f.Frag && to > from && whole
}

// digest sets the CRC-32C fields of a completion entry, according to the queue's mode.
func digest(b []byte, f *nicspec.RxCqeFields, mode nicspec.CrcMode) {
	from, to, ok := crcRange(b, f)
	if mode == nicspec.CrcModeOff || !ok {
		return
	}
	f.Crc32cValue = crc32c(b[from:to])
	if mode == nicspec.CrcModeCheck && to-from >= 5 {
		f.Crc32c = rightIf(crc32c(b[from:to-4]) == binary.LittleEndian.Uint32(b[to-4:]))
	}
}

// putDigest inserts the CRC-32C [X1], or returns false if crc_off or crc_start do not allow it. The caller has checked
// the conditions of [T7].
func putDigest(w *nicspec.WqeFields, f []byte) bool {
	l3, l4, end := int(w.L3Off), int(w.L4Off), len(f)
	if w.FIcrc {
		end = l4 + int(BigEndian.Uint16(f[l4+4:])) - 4
	}
	at, from, to := int(w.CrcOff), int(w.CrcStart), int(w.CrcOff)
	switch {
	case at == from, at > from && at+4 > end, at < from && (at+4 > from || from >= end):
		return false
	case at < from:
		to = end
	}
	if w.FIpCsum && at < l3+4*int(f[l3]&15) || (w.FUdpCsum || w.FUdpZero) && at < l4+8 || w.FIcrc && at < l4+20 {
		return false
	}
	binary.LittleEndian.PutUint32(f[at:], crc32c(f[from:to]))
	return true
}

// mark sets the ECN bits of the IP header at l3, and updates an IPv4 header's checksum as RFC 1624
// says.
func mark(b []byte, l3 int, ecn byte) {
	if b[l3]>>4 == 6 {
		b[l3+1] = b[l3+1]&^0x30 | ecn<<4
		return
	}
	was := BigEndian.Uint16(b[l3:])
	now := was&^3 | uint16(ecn)
	if was == now {
		return
	}
	BigEndian.PutUint16(b[l3:], now)
	sum := uint32(^BigEndian.Uint16(b[l3+10:])) + uint32(^was) + uint32(now)
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	BigEndian.PutUint16(b[l3+10:], ^uint16(sum))
}

// marked returns a frame as a queue with ecn_mode 1 writes it to memory [E1].
func marked(b []byte, f *nicspec.RxCqeFields) []byte {
	if ecn := f.IpTos & 3; f.L3Type == nicspec.L3TypeNone || ecn != 1 && ecn != 2 {
		return b
	}
	b = append([]byte(nil), b...)
	mark(b, int(f.L3Off), 3)
	return b
}

// markOut applies a transmit queue's ecn_mode to a gathered frame [E2].
func markOut(w *nicspec.WqeFields, f []byte, mode uint8) {
	l3, n := int(w.L3Off), min(len(f), nicspec.ParseBytes)
	if mode == 0 || l3 < 14 || l3+20 > n {
		return
	}
	ether, version := BigEndian.Uint16(f[l3-2:]), f[l3]>>4
	if ether == TypeIPv4 && version == 4 || ether == TypeIPv6 && version == 6 && l3+40 <= n {
		mark(f, l3, mode)
	}
}
