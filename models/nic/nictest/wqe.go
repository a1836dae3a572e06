package nictest

import "nictwin/models/nic/nicspec"

// Piece is a part of a frame in memory, named by a key.
type Piece struct {
	Key  uint32
	Addr uint64 // virtual address
	N    int    // bytes
}

// Wqe returns a Send of one block that asks for a completion entry. Pieces that do not fit are left
// out, but count in nseg; mod may change the result.
func Wqe(id uint32, inline []byte, pieces []Piece, mod func(nicspec.Wqe)) []byte {
	return Blocks(1, id, inline, pieces, mod)
}

// Entry returns what Wqe does, but with as many blocks as the inline bytes and pieces need [T14].
func Entry(id uint32, inline []byte, pieces []Piece, mod func(nicspec.Wqe)) []byte {
	return Blocks(NeedBlocks(len(inline), len(pieces)), id, inline, pieces, mod)
}

// NeedBlocks returns how many blocks an entry with so many inline bytes and pieces needs, even if
// that is more than an entry may have.
func NeedBlocks(inline, pieces int) int {
	slots := (inline+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes + pieces
	return 1 + slots/nicspec.WqeMoreSlots // the fields take one slot of the first block
}

// Blocks returns what Wqe does, but with the given number of blocks, 1 to 4.
func Blocks(blocks int, id uint32, inline []byte, pieces []Piece, mod func(nicspec.Wqe)) []byte {
	const head, slot = 16, nicspec.WqeSlotBytes
	b := make([]byte, blocks*nicspec.WqeBytes)
	w := nicspec.Wqe(b)
	w.SetOpcode(nicspec.OpcodeSend)
	w.SetNseg(uint8(len(pieces)))
	w.SetInlineLen(uint8(len(inline)))
	w.SetBlocks(uint8(blocks - 1))
	w.SetWqeId(id)
	w.SetFComplete(true)
	copy(b[head:], inline)
	at := head + (len(inline)+slot-1)/slot*slot
	for _, p := range pieces {
		if at+slot > len(b) {
			break
		}
		(&nicspec.SegFields{Key: p.Key, Len: uint32(p.N), Addr: p.Addr}).Encode(b[at:])
		at += slot
	}
	if mod != nil {
		mod(w)
	}
	return b
}
