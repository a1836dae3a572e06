package data

import (
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// ring allocates whole lines of a memory range in a circle. Pieces may be freed in any order; their memory becomes
// available in order of allocation.
type ring struct {
	from, size uint64
	head, used uint64
	pieces     fifo.Queue[*piece] // oldest first
	spare      []*piece
}

// piece is an allocation in a ring.
type piece struct {
	at    uint64
	bytes uint64 // length in bytes, whole lines
	skip  uint64 // bytes passed over before the piece, at the end of the range
	free  bool
}

func newRing(from, size uint64) ring { return ring{from: from, size: size} }

func wholeLines(n int) uint64 { return uint64(n+nicspec.LineBytes-1) &^ (nicspec.LineBytes - 1) }

// skipped returns the bytes lost at the end of the range if a piece of the given length is allocated now; fits is false
// if there is no room for it.
func (r *ring) skipped(bytes uint64) (skip uint64, fits bool) {
	if r.used == 0 {
		return 0, bytes <= r.size
	}
	if r.size-r.head < bytes {
		skip = r.size - r.head
	}
	return skip, r.used+skip+bytes <= r.size
}

// fits reports whether there is room for n bytes.
func (r *ring) fits(n int) bool {
	_, ok := r.skipped(wholeLines(n))
	return ok
}

// take allocates n bytes, for which there must be room. An empty ring continues behind its last piece, so that it
// sweeps through its memory.
func (r *ring) take(n int) *piece {
	var p *piece
	if k := len(r.spare); k > 0 {
		p, r.spare = r.spare[k-1], r.spare[:k-1]
	} else {
		p = new(piece)
	}
	*p = piece{bytes: wholeLines(n)}
	if r.size-r.head < p.bytes {
		if p.skip = r.size - r.head; r.used == 0 {
			p.skip = 0
		}
		r.head = 0
	}
	p.at = r.from + r.head
	r.head += p.bytes
	r.used += p.skip + p.bytes
	r.pieces.Push(p)
	return p
}

// free frees a piece.
func (r *ring) free(p *piece) {
	p.free = true
	for r.pieces.Len() > 0 && (*r.pieces.Front()).free {
		p := r.pieces.Pop()
		r.used -= p.skip + p.bytes
		r.spare = append(r.spare, p)
	}
}
