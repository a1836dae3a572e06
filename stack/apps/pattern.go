package apps

import (
	"bytes"
	"encoding/binary"
)

// Directions of a message: they select different bytes.
const (
	request = iota
	answer
)

// mix is the finisher of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

const golden = 0x9e3779b97f4a7c15

// pattern fills b with the bytes of a message. Messages of at least stampLen bytes begin with their
// number.
func pattern(b []byte, seed uint64, flow, direction, message int) {
	key := mix(seed + golden*uint64(flow+1))
	key = mix(key + golden*uint64(message+1) + uint64(direction))
	full := len(b) &^ 7
	for i := 0; i < full; i += 8 {
		key += golden
		binary.LittleEndian.PutUint64(b[i:], mix(key))
	}
	if full < len(b) {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], mix(key+golden))
		copy(b[full:], last[:])
	}
	if len(b) >= stampLen {
		binary.LittleEndian.PutUint32(b, uint32(message))
	}
}

// differ returns the first offset at which two messages of equal length differ, or -1.
func differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// stamp returns the number at the start of a message, or -1 if the message is too short for one.
func stamp(b []byte) int {
	if len(b) < stampLen {
		return -1
	}
	return int(binary.LittleEndian.Uint32(b))
}
