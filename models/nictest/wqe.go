package nictest

import "nictwin/models/nicspec"

// Piece is a part of a frame in memory, named by a key.
type Piece struct {
	Key  uint32
	Addr uint64 // virtual
	N    int    // bytes
}

// Wqe is a Send that asks for a completion entry. Pieces that do not fit are
// left out, though they count; mod changes what it likes.
func Wqe(id uint32, inline []byte, pieces []Piece, mod func(nicspec.Wqe)) []byte {
	const head, slot = 16, nicspec.WqeSlotBytes
	b := make([]byte, nicspec.WqeBytes)
	w := nicspec.Wqe(b)
	w.SetOpcode(nicspec.OpcodeSend)
	w.SetNseg(uint8(len(pieces)))
	w.SetInlineLen(uint8(len(inline)))
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
