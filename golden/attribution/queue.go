package attribution

import (
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Queue holds the entries of one transmit queue.
type Queue struct {
	ID    int
	Ctx   core.Queue // as enabled last; CI counts the entries seen to end
	Epoch uint32     // counts the enablings
	Open  bool       // enabled, or being disabled

	Oldest        uint16 // first entry that is not over
	Sends, Copies bool   // has had such entries

	Slots []Slot // one per block, by index mod twice the ring size
	Whole uint16 // first block that belongs to no whole entry yet
}

// Slot is one slot of the ring.
type Slot struct {
	State rings.State
	Entry *Entry // begins here, once all its blocks were read
	of    *Entry // entry that this is a later block of
	Block *Block // as it was read, until its entry is whole
}

// Block is one block of a work entry.
type Block [nicspec.WqeBytes]byte

// Domain returns the domain of the queue's mismatches.
func (q *Queue) Domain() verdict.Domain { return verdict.Txq(q.ID) }

// After returns the index behind the entry at an index, or behind a single block that is in no
// entry.
func (q *Queue) After(i uint16) uint16 {
	if e := q.Slot(i).Entry; e != nil {
		return i + e.Blocks
	}
	return i + 1
}

// Slot returns the slot of a block; the queue has to be open.
func (q *Queue) Slot(i uint16) *Slot { return &q.Slots[int(i)&(len(q.Slots)-1)] }

// hasBlocks reports whether the device has n blocks from one on.
func (q *Queue) hasBlocks(i, n uint16) bool {
	for k := range n {
		if q.Slot(i+k).Block == nil {
			return false
		}
	}
	return true
}

// Forget empties the slots of an entry: the oldest one, or any one of a queue that is off.
func (q *Queue) Forget(e *Entry) {
	for k := range e.Blocks {
		*q.Slot(e.Index + k) = Slot{}
	}
	if q.Oldest == e.Index {
		q.Oldest += e.Blocks
	}
}

// OwnerOf returns the entry that a slot's block belongs to, nil if it is not whole yet.
func (s *Slot) OwnerOf() *Entry {
	if s.Entry != nil {
		return s.Entry
	}
	return s.of
}
