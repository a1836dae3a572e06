package program

import (
	"encoding/binary"
	"slices"

	"nictwin/scenarios/traffic/craft"
)

// Bytes returns the frame, fitted to n bytes if it has a Len.
func (f *Frame) Bytes(n int) []byte {
	b := slices.Clone(f.Raw)
	if len(b) == 0 {
		b = f.Build()
	}
	if f.Len > 0 {
		b = Fit(b, n, f.Seed)
	}
	for _, p := range f.Put {
		if p.At+2 <= len(b) {
			binary.BigEndian.PutUint16(b[p.At:], p.Value)
		}
	}
	for i, w := range f.Words {
		if at := 14 + 2*i; at+2 <= len(b) {
			binary.BigEndian.PutUint16(b[at:], w)
		}
	}
	for _, bit := range f.Flip {
		if bit/8 < len(b) {
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
	return b
}

// Fit truncates b to n bytes or pads it with bytes drawn from the seed.
func Fit(b []byte, n int, seed uint64) []byte {
	if n <= len(b) {
		return b[:n]
	}
	return append(b, craft.Pattern(n-len(b), seed+11)...)
}
