package golden

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math/bits"

	"nictwin/models/boundary"
)

// digest is a hash over every crossing. Each becomes a record of fixed size:
// kind, port, queue, length, cycles and 128 bits that mix its bytes; the
// records go through SHA-256 in batches, of which the result does not depend.
type digest struct {
	sha    hash.Hash
	buf    [recordsPerBatch * recordBytes]byte
	n      int
	cycles bool
}

const (
	recordBytes     = 40
	recordsPerBatch = 64
)

func newDigest(cycles bool) digest { return digest{sha: sha256.New(), cycles: cycles} }

// add takes one crossing.
func (d *digest) add(x *boundary.Crossing) {
	if d.n == len(d.buf) {
		d.flush()
	}
	b := d.buf[d.n : d.n+recordBytes : d.n+recordBytes]
	d.n += recordBytes
	var lo, hi uint64
	var size, queue int
	if x.Kind.IsTLP() {
		size = len(x.TLP.Data)
		lo, hi = mix128(binary.LittleEndian.Uint64(x.TLP.Hdr[:]), binary.LittleEndian.Uint64(x.TLP.Hdr[8:]), x.TLP.Data)
	} else {
		size, queue = len(x.Frame.Data), x.Frame.Queue
		lo, hi = mix128(0, 0, x.Frame.Data)
	}
	first, last := x.First, x.Last
	if !d.cycles {
		first, last = 0, 0
	}
	b[0], b[1] = uint8(x.Kind), uint8(x.Port)
	binary.LittleEndian.PutUint16(b[2:], uint16(queue))
	binary.LittleEndian.PutUint32(b[4:], uint32(size))
	binary.LittleEndian.PutUint64(b[8:], uint64(first))
	binary.LittleEndian.PutUint64(b[16:], uint64(last))
	binary.LittleEndian.PutUint64(b[24:], lo)
	binary.LittleEndian.PutUint64(b[32:], hi)
}

func (d *digest) flush() {
	d.sha.Write(d.buf[:d.n])
	d.n = 0
}

// sum ends the digest and returns it in hexadecimal.
func (d *digest) sum() string {
	d.flush()
	return hex.EncodeToString(d.sha.Sum(nil))
}

// Odd constants with about as many ones as zeros.
const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xc2b2ae3d27d4eb4f
	mixC = 0x165667b19e3779f9
	mixD = 0xd6e8feb86659fd93
)

// fold multiplies and folds the product to 64 bits.
func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// mix128 mixes bytes, and two words before them, into 128 bits. It serves to
// tell runs apart and resists no attacker.
func mix128(p, q uint64, b []byte) (lo, hi uint64) {
	lo, hi = fold(p^mixA, q^mixB), fold(p^mixC, q^mixD)
	n := uint64(len(b))
	for len(b) >= 32 {
		w, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		y, z := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		lo = bits.RotateLeft64(lo, 23) + w ^ fold(w^mixA, x^lo)
		hi = bits.RotateLeft64(hi, 29) + y ^ fold(y^mixC, z^hi)
		b = b[32:]
	}
	var tail [32]byte
	copy(tail[:], b)
	w, x := binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])
	y, z := binary.LittleEndian.Uint64(tail[16:]), binary.LittleEndian.Uint64(tail[24:])
	lo ^= fold(w^mixB, x^hi) ^ n
	hi ^= fold(y^mixD, z^lo)
	return fold(lo^mixA, hi^mixD), fold(hi^mixB, lo^mixC)
}
