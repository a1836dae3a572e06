package apps

import (
	"fmt"

	"nictwin/stack/verbs"
)

const (
	line  = 64
	pad   = 0x5a // of bytes that nobody may write
	guard = line // of them behind each piece
)

// Core is a processor core as the application on it sees it: loads and stores take their time there.
type Core interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
}

// Memory is the same bytes without time: what was there before the application began, and what is there in the end.
type Memory interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// area is slots for messages in a server's memory. A slot has pieces of the same length, with a guard behind each.
type area struct {
	base   uint64
	slots  int
	pieces int
	piece  int    // bytes that a piece has
	apart  uint64 // from one piece to the next
	offset uint64
	stride uint64 // from one slot to the next
	loose  bool   // what it holds in the end depends on timing
}

// room hands out a server's memory.
type room struct {
	next, end uint64
}

// RoomError is a workload that needs more memory than a server has for applications.
type RoomError struct {
	Slots, Bytes int
	Want, Left   uint64
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("apps: %d messages of %d B: want %d B of memory on a server, %d are left: want a lower count, "+
		"depth or size", e.Slots, e.Bytes, e.Want, e.Left)
}

// area takes memory for slots of so many bytes.
func (r *room) area(slots, bytes, pieces, offset int) (area, error) {
	a := area{base: r.next, slots: slots, pieces: pieces, piece: max((bytes+pieces-1)/pieces, 1),
		offset: uint64(offset)}
	a.apart = (uint64(a.piece) + a.offset + guard + line - 1) &^ (line - 1)
	a.stride = a.apart * uint64(pieces)
	n := a.stride * uint64(slots)
	if n > r.end-r.next {
		return a, &RoomError{slots, bytes, n, r.end - r.next}
	}
	r.next += n
	return a, nil
}

func (a *area) bytes() uint64 { return a.stride * uint64(a.slots) }

// at is where a piece of a slot begins.
func (a *area) at(slot, piece int) uint64 {
	return a.base + uint64(slot%a.slots)*a.stride + uint64(piece)*a.apart + a.offset
}

// chunk is how many bytes of a message of n each piece has when they have the same.
func (a *area) chunk(n int) int { return max((n+a.pieces-1)/a.pieces, 1) }

// spans are the pieces that n bytes take, so many in each.
func (a *area) spans(into []verbs.SGE, slot, n, chunk int, key uint32) []verbs.SGE {
	for k := 0; n > 0; k++ {
		c := min(n, chunk)
		into = append(into, verbs.SGE{Addr: a.at(slot, k), Length: uint32(c), LKey: key})
		n -= c
	}
	return into
}

// load reads bytes of a slot, from an offset of the message on.
func (a *area) load(c Core, slot, from, chunk int, b []byte) error {
	for len(b) > 0 {
		k, off := from/chunk, from%chunk
		n := min(len(b), chunk-off)
		if err := c.Load(a.at(slot, k)+uint64(off), b[:n]); err != nil {
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
		if err := c.Store(a.at(slot, k), b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// blank fills the area with the guards' bytes.
func (a *area) blank(m Memory) error {
	b := make([]byte, a.stride)
	for i := range b {
		b[i] = pad
	}
	for s := range a.slots {
		if err := m.Write(a.base+uint64(s)*a.stride, b); err != nil {
			return err
		}
	}
	return nil
}

// trespass is the first byte outside of the pieces that is not as it was; ok is false if there is one.
func (a *area) trespass(m Memory, b []byte) (addr uint64, got byte, ok bool, err error) {
	b = b[:a.apart]
	for s := range a.slots {
		for k := range a.pieces {
			from := a.at(s, k) - a.offset
			if err := m.Read(from, b); err != nil {
				return 0, 0, false, err
			}
			for i, v := range b {
				if inside := i >= int(a.offset) && i < int(a.offset)+a.piece; !inside && v != pad {
					return from + uint64(i), v, false, nil
				}
			}
		}
	}
	return 0, 0, true, nil
}

// where is the address of a byte of a message.
func (a *area) where(slot, off, chunk int) uint64 { return a.at(slot, off/chunk) + uint64(off%chunk) }
