package protocol

import "math/bits"

// Digest folds events into 64 bits (docs/bridge.md, "Digest"); the device process computes the same when it plays a
// recording. It is made for speed, not for secrecy.
type Digest struct{ h uint64 }

const digestInit = 0x589965cc75374cc3

// NewDigest returns the digest of no events.
func NewDigest() Digest { return Digest{h: digestInit} }

// Sum returns the digest of the events so far.
func (d *Digest) Sum() uint64 { return d.h }

// Add adds an event in its wire format: head, side bytes, data. Held times do not count.
func (d *Digest) Add(e *Record) {
	if e.Kind == EventHeld {
		return
	}
	n := 0
	if e.Kind == EventOut {
		n = len(e.Data)
	}
	w0 := uint64(e.Kind) | uint64(e.Stream)<<8 | uint64(e.Flags)<<16 | uint64(e.Rule)<<24 | uint64(n)<<32
	d.block(w0, e.Ordinal, e.First, e.Last)
	d.bytes(e.Side)
	d.bytes(e.Data)
}

// bytes adds p, padded with zeros to whole blocks of 32.
func (d *Digest) bytes(p []byte) {
	h := d.h
	for len(p) >= 32 {
		b := p[:32:32]
		h = digestBlock(h, Le.Uint64(b), Le.Uint64(b[8:]), Le.Uint64(b[16:]), Le.Uint64(b[24:]))
		p = p[32:]
	}
	d.h = h
	if len(p) != 0 {
		var last [32]byte
		copy(last[:], p)
		d.block(Le.Uint64(last[:]), Le.Uint64(last[8:]), Le.Uint64(last[16:]), Le.Uint64(last[24:]))
	}
}

func (d *Digest) block(w0, w1, w2, w3 uint64) { d.h = digestBlock(d.h, w0, w1, w2, w3) }

func digestBlock(h, w0, w1, w2, w3 uint64) uint64 {
	ah, al := bits.Mul64(w0^0xa0761d6478bd642f, w1^0xe7037ed1a0b428db)
	bh, bl := bits.Mul64(w2^0x8ebc6af09c88c6e3, w3^h)
	return bits.RotateLeft64(h, 23) ^ ah ^ al ^ bh ^ bl
}
