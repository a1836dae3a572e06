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
	Ctx   core.Queue // context with which the queue was enabled; CI counts the entries known to have ended
	Epoch uint32     // number of times that the queue was enabled
	Open  bool       // enabled, or being disabled

	Oldest        uint16 // first entry that has not ended
	Sends, Copies bool   // an entry of this kind was fetched since the queue was enabled

	Slots []Slot // one per block, by index mod twice the ring size
	Whole uint16 // all blocks before this one were assembled into whole entries
}

// Slot is one slot of the ring.
type Slot struct {
	State rings.State
	Entry *Entry // entry that begins here, once assembled
	of    *Entry // entry that the slot's block continues, as its second or a later block
	Block *Block // bytes of the block until the block's entry is assembled
}

// Block is one block of a work entry.
type Block [nicspec.WqeBytes]byte

// Domain returns the domain of the queue's mismatches.
func (q *Queue) Domain() verdict.Domain { return verdict.Txq(q.ID) }

// After returns the index after the entry that begins at i, or after the single block i if no assembled entry
// begins there.
func (q *Queue) After(i uint16) uint16 {
	if e := q.Slot(i).Entry; e != nil {
		return i + e.Blocks
	}
	return i + 1
}

// Slot returns the slot of a block; the queue has to be open.
func (q *Queue) Slot(i uint16) *Slot { return &q.Slots[int(i)&(len(q.Slots)-1)] }

// hasBlocks reports whether the device has blocks i to i+n-1.
func (q *Queue) hasBlocks(i, n uint16) bool {
	for k := range n {
		if q.Slot(i+k).Block == nil {
			return false
		}
	}
	return true
}

// Forget empties the slots of an entry. It must be the oldest, unless the queue is off.
func (q *Queue) Forget(e *Entry) {
	for k := range e.Blocks {
		*q.Slot(e.Index + k) = Slot{}
	}
	if q.Oldest == e.Index {
		q.Oldest += e.Blocks
	}
}

// OwnerOf returns the entry that a slot's block belongs to, nil if none was assembled from it.
func (s *Slot) OwnerOf() *Entry {
	if s.Entry != nil {
		return s.Entry
	}
	return s.of
}
