package core

import "nictwin/models/nic/nicspec"

// WorkEntry is the concatenated blocks of one transmit work entry [T14]: the first block has the
// fields and three slots, each further one four slots.
type WorkEntry []byte

const wqeSlotsOff = nicspec.WqeBytes - nicspec.WqeSlots*nicspec.WqeSlotBytes

// WqeBlocks returns the number of blocks of the entry that begins with block first. Without part
// long it is always one [N1].
func WqeBlocks(first []byte, parts nicspec.Cap1Reg) int {
	if parts&nicspec.PartLong == 0 {
		return 1
	}
	return 1 + int(nicspec.Wqe(first).Blocks())
}

// Slots returns the number of slots.
func (e WorkEntry) Slots() int { return (len(e) - wqeSlotsOff) / nicspec.WqeSlotBytes }

// Inline returns the first n bytes of the slots.
func (e WorkEntry) Inline(n int) []byte { return e[wqeSlotsOff : wqeSlotsOff+n] }

// Seg returns slot i as a piece.
func (e WorkEntry) Seg(i int) nicspec.Seg {
	at := wqeSlotsOff + i*nicspec.WqeSlotBytes
	return nicspec.Seg(e[at : at+nicspec.SegSize])
}
