package golden

import (
	"encoding/binary"
	"math/rand/v2"

	"nictwin/models/format/wire"
)

// testFrame draws a frame: usually valid RoCEv2, sometimes invalid, sometimes of another protocol.
func testFrame(rng *rand.Rand) []byte {
	switch rng.IntN(24) {
	case 0:
		return pattern(rng.IntN(60), rng.Uint64())
	case 1:
		return pattern(60+rng.IntN(9500), rng.Uint64())
	}
	f := make([]byte, 0, 4200)
	f = append(f, uint8(rng.IntN(8))<<1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for range max(rng.IntN(5)-2, 0) {
		f = append(f, 0x81, 0, uint8(rng.IntN(256)), uint8(rng.IntN(256)))
	}
	proto := uint8(17)
	if rng.IntN(8) == 0 {
		proto = 6
	}
	body := testBody(rng, proto)
	if rng.IntN(3) == 0 {
		f = append(f, 0x86, 0xdd, 0x60|uint8(rng.IntN(16)), uint8(rng.IntN(256)), 0, 0)
		f = binary.BigEndian.AppendUint16(f, uint16(len(body)))
		f = append(f, proto, 64)
		f = append(f, pattern(32, rng.Uint64()%4)...)
	} else {
		options := rng.IntN(8) / 7 * 8
		f = append(f, 8, 0, 0x45+uint8(options/4), uint8(rng.IntN(256)))
		f = binary.BigEndian.AppendUint16(f, uint16(20+options+len(body)))
		frag := uint16(0)
		if rng.IntN(20) == 0 {
			frag = uint16(rng.IntN(1 << 16))
		}
		f = binary.BigEndian.AppendUint16(f, uint16(rng.Uint64()))
		f = binary.BigEndian.AppendUint16(f, frag)
		f = append(f, 64, proto, 0, 0)
		f = append(f, pattern(8, rng.Uint64()%4)...)
		f = append(f, make([]byte, options)...)
	}
	f = append(f, body...)
	_ = wire.SealFrame(f, rng.IntN(2) == 0) // a frame that is not RoCEv2 is not changed
	if rng.IntN(10) == 0 {
		f[14+rng.IntN(len(f)-14)] ^= 1 << rng.IntN(8)
	}
	for n := rng.IntN(40); len(f) < 60 || n == 0 && len(f) < 100; {
		f = append(f, 0)
	}
	return f
}

// testBody draws a UDP header with a BTH, or a TCP header.
func testBody(rng *rand.Rand, proto uint8) []byte {
	n := rng.IntN(300)
	if rng.IntN(6) == 0 {
		n = rng.IntN(4000)
	}
	if proto == 6 {
		b := append(pattern(20, rng.Uint64()), pattern(n, rng.Uint64())...)
		b[12] = uint8(5+rng.IntN(8)/7) << 4
		return b
	}
	port := uint16(4791)
	if rng.IntN(10) == 0 {
		port = uint16(rng.IntN(4))
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(rng.Uint64()))
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint16(b, uint16(8+12+n+4))
	b = append(b, 0, 0)
	opcodes := [...]uint8{4, 0, 1, 2, 6, 10, 12, 13, 16, 17, 18, 19, 0x64, 0x81}
	b = append(b, opcodes[rng.IntN(len(opcodes))], uint8(rng.IntN(256)), 0xff, 0xff, 0, 0, 0, uint8(rng.IntN(8)))
	b = append(b, uint8(rng.IntN(2))<<7, 1, 2, uint8(rng.IntN(256)))
	return append(b, pattern(n+4, rng.Uint64())...)
}
