package tlp

import "fmt"

// Piece is the part of a transfer that one TLP carries.
type Piece struct {
	Addr uint64 // address of the first byte
	Len  int    // bytes; 0 only for a transfer of no bytes
}

// Align determines whether pieces end at multiples of the limit.
type Align uint8

// The ways of splitting.
const (
	Unaligned Align = iota // pieces as long as the limit and 4 KB allow
	Aligned                // as Unaligned, but all pieces except the last end at a multiple of the limit
)

// Split cuts a transfer into requests, in address order. The zero value has
// no pieces.
type Split struct {
	addr  uint64
	left  int
	limit int
	align Align
	more  bool
}

// SplitWrite cuts a write of n bytes at addr into payloads of at most mps bytes, counted in whole
// DWs as on the wire. None crosses a 4 KB boundary. A write of no bytes is one piece of no bytes: a
// zero-length write. It panics if n is negative or mps not a legal setting.
func SplitWrite(addr uint64, n, mps int, align Align) Split {
	return newSplit("MPS", addr, n, mps, align)
}

// SplitRead cuts a read into requests of at most mrrs bytes, as SplitWrite does.
func SplitRead(addr uint64, n, mrrs int, align Align) Split {
	return newSplit("MRRS", addr, n, mrrs, align)
}

func newSplit(what string, addr uint64, n, limit int, align Align) Split {
	if n < 0 || !legalSize(limit) {
		panic(fmt.Sprintf("tlp: split of %d bytes by %s %d", n, what, limit))
	}
	return Split{addr: addr, left: n, limit: limit, align: align, more: true}
}

// Next returns the next piece; ok is false at the end.
func (s *Split) Next() (p Piece, ok bool) {
	if !s.more {
		return Piece{}, false
	}
	room := s.limit - int(s.addr&(DWBytes-1))
	if s.align == Aligned {
		room = s.limit - int(s.addr&uint64(s.limit-1))
	}
	room = min(room, PageBytes-int(s.addr&(PageBytes-1)), s.left)
	p = Piece{s.addr, room}
	s.addr += uint64(room)
	s.left -= room
	s.more = s.left > 0
	return p, true
}

// Count returns how many pieces are left.
func (s Split) Count() int {
	n := 0
	for _, ok := s.Next(); ok; _, ok = s.Next() {
		n++
	}
	return n
}

// CplSplit cuts the data of one read into completions, in address order
// (PCIe 2.3.1.1): each ends at a multiple of the RCB or with the request, and
// none carries more than MPS.
type CplSplit struct {
	addr uint64
	left int
	mps  int
	rcb  int
	more bool
}

// SplitCompletion starts the split for a read of n bytes (its span, at least
// 1) at addr. It panics if n is not positive or a limit not a legal setting.
func SplitCompletion(addr uint64, n, mps, rcb int) CplSplit {
	if n <= 0 || !legalSize(mps) || !legalRCB(rcb) {
		panic(fmt.Sprintf("tlp: split of a completion of %d bytes by MPS %d, RCB %d", n, mps, rcb))
	}
	return CplSplit{addr: addr, left: n, mps: mps, rcb: rcb, more: true}
}

// Choices returns the number of possible ends of the next piece: successive multiples of the RCB
// and, if MPS allows, the request's end. It is 0 at the end of the split.
func (s *CplSplit) Choices() int {
	if !s.more {
		return 0
	}
	first := s.rcb - int(s.addr&uint64(s.rcb-1))
	room := s.mps - int(s.addr&(DWBytes-1))
	if first >= s.left {
		return 1
	}
	if room >= s.left {
		return 1 + (s.left-first+s.rcb-1)/s.rcb
	}
	return 1 + (room-first)/s.rcb
}

// Take returns the piece with the given choice of end, 0 being the nearest.
// It panics if there is no such choice.
func (s *CplSplit) Take(choice int) Piece {
	if choice < 0 || choice >= s.Choices() {
		panic(fmt.Sprintf("tlp: completion split has no choice %d of %d", choice, s.Choices()))
	}
	n := s.rcb - int(s.addr&uint64(s.rcb-1)) + choice*s.rcb
	n = min(n, s.left)
	p := Piece{s.addr, n}
	s.addr += uint64(n)
	s.left -= n
	s.more = s.left > 0
	return p
}

// Next returns the longest next piece; ok is false at the end.
func (s *CplSplit) Next() (p Piece, ok bool) {
	if !s.more {
		return Piece{}, false
	}
	return s.Take(s.Choices() - 1), true
}

// Left returns how many bytes are left: the byte count of the next completion.
func (s *CplSplit) Left() int { return s.left }

// More reports whether there is a next piece.
func (s *CplSplit) More() bool { return s.more }
