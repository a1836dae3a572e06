package kit

import (
	"nictwin/models/nic/nicspec"
)

// RSSHash returns the hash of a parsed frame.
func RSSHash(key [nicspec.RssKeyBytes]byte, b []byte, f *nicspec.RxCqeFields) uint32 {
	var in []byte
	switch l3 := int(f.L3Off); f.L3Type {
	case nicspec.L3TypeIpv4:
		in = append(in, b[l3+12:l3+20]...)
	case nicspec.L3TypeIpv6:
		in = append(in, b[l3+8:l3+40]...)
	default:
		return 0
	}
	if f.L4Type != nicspec.L4TypeNone && !f.Frag {
		in = append(in, b[f.L4Off:f.L4Off+4]...)
	}
	return toeplitz(key, in)
}

// toeplitz computes the hash [S1] bit by bit.
func toeplitz(key [nicspec.RssKeyBytes]byte, in []byte) (sum uint32) {
	bit := func(b []byte, i int) uint32 { return uint32(b[i/8]) >> (7 - i%8) & 1 }
	for i := range 8 * len(in) {
		if bit(in, i) == 0 {
			continue
		}
		for k := range 32 {
			sum ^= bit(key[:], i+k) << (31 - k)
		}
	}
	return sum
}
