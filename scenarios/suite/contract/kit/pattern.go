package kit

import (
	"nictwin/scenarios/traffic/craft"
)

// Pattern returns n bytes that differ from those of other seeds.
func Pattern(n int, seed uint64) []byte { return craft.Pattern(n, seed) }

func LE16(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

func LE64(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}
