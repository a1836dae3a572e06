package apps

import (
	"encoding/binary"
	"fmt"
)

// Ps is a time in picoseconds.
type Ps = int64

// pattern writes the bytes of a message from an offset on.
func pattern(seed uint64, message uint32, offset int, b []byte) {
	base := mix(seed) + uint64(message)<<32
	word := uint64(offset / 8)
	if skip := offset % 8; skip > 0 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], mix(base+word))
		b = b[copy(b, w[skip:]):]
		word++
	}
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, mix(base+word))
		word++
	}
	if len(b) > 0 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], mix(base+word))
		copy(b, w[:])
	}
}

// mix is a step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// compare returns an error that names the first byte of got that differs from want.
func compare(what string, offset int, got, want []byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d bytes: want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("%s: byte %d is %#02x: want %#02x", what, offset+i, got[i], want[i])
		}
	}
	return nil
}
