package core

import "nictwin/models/nic/nicspec"

// WorkEntry is the blocks of one transmit work entry, one after another [T14]:
// the first with the fields and three slots, then four slots in each.
type WorkEntry []byte

const wqeSlotsOff = nicspec.WqeBytes - nicspec.WqeSlots*nicspec.WqeSlotBytes

// WqeBlocks returns how many blocks the entry has that begins with the block
// first. Without part long it is always one [N1].
func WqeBlocks(first []byte, parts nicspec.Cap1Reg) int {
	if parts&nicspec.PartLong == 0 {
		return 1
	}
	return 1 + int(nicspec.Wqe(first).Blocks())
}

// Slots returns how many slots the blocks have.
func (e WorkEntry) Slots() int { return (len(e) - wqeSlotsOff) / nicspec.WqeSlotBytes }

// Inline returns the first n bytes of the slots.
func (e WorkEntry) Inline(n int) []byte { return e[wqeSlotsOff : wqeSlotsOff+n] }

// Seg returns slot i as a piece.
func (e WorkEntry) Seg(i int) nicspec.Seg {
	at := wqeSlotsOff + i*nicspec.WqeSlotBytes
	return nicspec.Seg(e[at : at+nicspec.SegSize])
}
