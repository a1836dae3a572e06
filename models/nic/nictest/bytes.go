package nictest

// Mix returns a hash of z: the finaliser of SplitMix64.
func Mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Pattern returns n bytes that differ from place to place and from seed to seed.
func Pattern(n int, seed uint64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = uint8(Mix(seed<<32 + uint64(i)))
	}
	return b
}
