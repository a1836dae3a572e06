package wire

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C returns the CRC-32C of b (RFC 3720 12.1): reflected polynomial
// 0x1EDC6F41, initial value and final XOR all ones.
func CRC32C(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// UpdateCRC32C continues a CRC-32C: crc is that of the bytes before b, 0 if there are none.
func UpdateCRC32C(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

// slices are the tables for computing the CRC-32 of eight bytes at a time.
var slices = buildSlices()

func buildSlices() (t [8][256]uint32) {
	t[0] = *crc32.IEEETable
	for i := range t[0] {
		for k := 1; k < len(t); k++ {
			t[k][i] = t[k-1][i]>>8 ^ t[0][byte(t[k-1][i])]
		}
	}
	return t
}

// crcShort continues a CRC-32 (IEEE) over a few bytes. It does the same as crc32.Update, which
// calls through a function variable: a buffer on the stack passed to that would escape to the heap.
func crcShort(crc uint32, b []byte) uint32 {
	crc = ^crc
	for ; len(b) >= 8; b = b[8:] {
		lo, hi := crc^binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		crc = slices[7][byte(lo)] ^ slices[6][byte(lo>>8)] ^ slices[5][byte(lo>>16)] ^ slices[4][lo>>24] ^
			slices[3][byte(hi)] ^ slices[2][byte(hi>>8)] ^ slices[1][byte(hi>>16)] ^ slices[0][hi>>24]
	}
	for _, x := range b {
		crc = slices[0][byte(crc)^x] ^ crc>>8
	}
	return ^crc
}
