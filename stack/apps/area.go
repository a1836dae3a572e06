package apps

import (
	"fmt"

	"nictwin/stack/verbs"
)

const (
	line       = 64
	guardByte  = 0x5a // the value of guard bytes
	guardBytes = line // number of guard bytes behind each piece: nobody may write them
)

// Core is a processor core as its software sees it: loads and stores take time.
type Core interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
}

// Memory accesses the same bytes in zero simulated time. It is used before the application begins and after it ends.
type Memory interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// area is memory for messages, divided into slots. A slot has pieces of equal length, each followed by
// a guard.
type area struct {
	base        uint64
	slots       int
	pieces      int
	piece       int    // length of a piece
	pieceStride uint64 // distance between the starts of two pieces
	offset      uint64
	slotStride  uint64 // distance between the starts of two slots
	loose       bool   // the final contents depend on timing: digests leave them out
}

// arena allocates a server's memory, from the start on; nothing is freed.
type arena struct {
	next, end uint64
}

// MemoryError reports a workload that needs more memory than a server has for applications.
type MemoryError struct {
	Slots, Bytes int
	Want, Left   uint64
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("apps: %d messages of %d B: want %d B of memory on a server, %d are left: want a lower count, "+
		"depth, size, receives or receive_bytes", e.Slots, e.Bytes, e.Want, e.Left)
}

// alloc allocates slots of the given number of bytes each.
func (r *arena) alloc(slots, bytes, pieces, offset int) (area, error) {
	a := area{base: r.next, slots: slots, pieces: pieces, piece: max((bytes+pieces-1)/pieces, 1),
		offset: uint64(offset)}
	a.pieceStride = (uint64(a.piece) + a.offset + guardBytes + line - 1) &^ (line - 1)
	a.slotStride = a.pieceStride * uint64(pieces)
	n := a.slotStride * uint64(slots)
	if n > r.end-r.next {
		return a, &MemoryError{slots, bytes, n, r.end - r.next}
	}
	r.next += n
	return a, nil
}

func (a *area) bytes() uint64 { return a.slotStride * uint64(a.slots) }

// pieceAddr returns the address of a piece of a slot.
func (a *area) pieceAddr(slot, piece int) uint64 {
	return a.base + uint64(slot%a.slots)*a.slotStride + uint64(piece)*a.pieceStride + a.offset
}

// chunk returns the bytes in each piece when a message of n bytes is divided evenly.
func (a *area) chunk(n int) int { return max((n+a.pieces-1)/a.pieces, 1) }

// spans returns the pieces that hold n bytes, `chunk` bytes in each.
func (a *area) spans(into []verbs.SGE, slot, n, chunk int, key uint32) []verbs.SGE {
	for k := 0; n > 0; k++ {
		c := min(n, chunk)
		into = append(into, verbs.SGE{Addr: a.pieceAddr(slot, k), Length: uint32(c), LKey: key})
		n -= c
	}
	return into
}

// load reads len(b) bytes of the message in a slot; from is the offset of the first one.
func (a *area) load(c Core, slot, from, chunk int, b []byte) error {
	for len(b) > 0 {
		k, off := from/chunk, from%chunk
		n := min(len(b), chunk-off)
		if err := c.Load(a.pieceAddr(slot, k)+uint64(off), b[:n]); err != nil {
			return err
		}
		b, from = b[n:], from+n
	}
	return nil
}

// store writes the bytes of a slot.
func (a *area) store(c Core, slot, chunk int, b []byte) error {
	for k := 0; len(b) > 0; k++ {
		n := min(len(b), chunk)
		if err := c.Store(a.pieceAddr(slot, k), b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// fillGuards fills the area with the guard value.
func (a *area) fillGuards(m Memory) error {
	b := make([]byte, a.slotStride)
	for i := range b {
		b[i] = guardByte
	}
	for s := range a.slots {
		if err := m.Write(a.base+uint64(s)*a.slotStride, b); err != nil {
			return err
		}
	}
	return nil
}

// checkGuards returns the first byte outside the pieces that has changed; ok is false if there is one.
func (a *area) checkGuards(m Memory, b []byte) (addr uint64, got byte, ok bool, err error) {
	b = b[:a.pieceStride]
	for s := range a.slots {
		for k := range a.pieces {
			from := a.pieceAddr(s, k) - a.offset
			if err := m.Read(from, b); err != nil {
				return 0, 0, false, err
			}
			for i, v := range b {
				if inside := i >= int(a.offset) && i < int(a.offset)+a.piece; !inside && v != guardByte {
					return from + uint64(i), v, false, nil
				}
			}
		}
	}
	return 0, 0, true, nil
}

// byteAddr returns the address of the byte at offset off in a slot's message.
func (a *area) byteAddr(slot, off, chunk int) uint64 {
	return a.pieceAddr(slot, off/chunk) + uint64(off%chunk)
}
