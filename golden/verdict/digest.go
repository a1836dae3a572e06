package verdict

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"nictwin/models/nic/boundary"
)

// Digest is a hash over every crossing: kind, port, queue, length, cycles and
// bytes. Each crossing is mixed into a state of 128 bits, which depends on the
// order; the result is the SHA-256 of the state and of how many there were.
type Digest struct {
	a, b uint64
	n    uint64
}

// NewDigest returns the digest of no crossings.
func NewDigest() Digest { return Digest{a: MixA, b: mixD} }

// Add adds a crossing to the digest.
func (d *Digest) Add(x *boundary.Crossing) {
	var lo, hi uint64
	kind := uint64(x.Kind) | uint64(x.Port)<<8
	if x.Kind.IsTLP() {
		lo, hi = mix128(binary.LittleEndian.Uint64(x.TLP.Hdr[:]), binary.LittleEndian.Uint64(x.TLP.Hdr[8:]), x.TLP.Data)
	} else {
		kind |= uint64(uint32(x.Frame.Queue)) << 16
		lo, hi = mix128(0, 0, x.Frame.Data)
	}
	lo += Fold(uint64(x.First)^mixC, MixB)
	hi += Fold(uint64(x.Last)^MixA, mixD)
	d.a, d.b = Fold(d.a^lo, MixB^kind)+d.b, Fold(d.b^hi, mixC)^d.a
	d.n++
}

// Sum returns the digest in hexadecimal.
func (d *Digest) Sum() string {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], d.a)
	binary.LittleEndian.PutUint64(b[8:], d.b)
	binary.LittleEndian.PutUint64(b[16:], d.n)
	sum := sha256.Sum256(b[:])
	return hex.EncodeToString(sum[:])
}

// Multipliers of the hash: odd, with about as many ones as zeros.
const (
	MixA = 0x9e3779b97f4a7c15
	MixB = 0xc2b2ae3d27d4eb4f
	mixC = 0x165667b19e3779f9
	mixD = 0xd6e8feb86659fd93
)

// Fold multiplies and folds the product to 64 bits.
func Fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// mix128 hashes bytes, and two words before them, to 128 bits. It distinguishes runs but resists no attacker. The
// contribution of each 32-byte block depends on its place and its bytes only, so that blocks can be hashed in
// parallel.
func mix128(p, q uint64, b []byte) (lo, hi uint64) {
	lo, hi = Fold(p^MixA, q^MixB), Fold(q^mixC, p^mixD)
	k, n := uint64(len(b)), uint64(len(b))
	for len(b) >= 32 {
		w, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		y, z := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		k += MixA
		lo += Fold(w^k, x^MixB-k)
		hi += Fold(y^k, z^mixD-k)
		b = b[32:]
	}
	if len(b) > 0 {
		var tail [32]byte
		copy(tail[:], b)
		w, x := binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])
		y, z := binary.LittleEndian.Uint64(tail[16:]), binary.LittleEndian.Uint64(tail[24:])
		k += mixC
		lo += Fold(w^k, x^MixB-k)
		hi += Fold(y^k, z^mixD-k)
	}
	return Fold(lo^MixA, hi^mixD^n), Fold(hi^MixB^n, lo^mixC)
}
