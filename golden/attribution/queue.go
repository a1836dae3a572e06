package attribution

import (
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Queue is the entries of one transmit queue.
type Queue struct {
	ID    int
	Ctx   core.Queue // as enabled last; CI counts the entries seen to end
	Epoch uint32     // counts the enablings
	Open  bool       // enabled, or being disabled

	Oldest        uint16 // first entry that is not done with
	Sends, Copies bool   // has had such entries

	Slots []Slot // of a block each, by index mod twice the ring size
	Whole uint16 // first block that is in no entry yet
}

// Slot is one entry of the ring.
type Slot struct {
	State rings.State
	Entry *Entry // that begins here, once all its blocks were read
	of    *Entry // of which this is a later block
	Block *Block // as it was read, until its entry is whole
}

// Block is one block of a work entry.
type Block [nicspec.WqeBytes]byte

// Domain is where the queue's mismatches belong.
func (q *Queue) Domain() verdict.Domain { return verdict.Txq(q.ID) }

// After is the index behind the entry at an index, or behind a block that is in
// none.
func (q *Queue) After(i uint16) uint16 {
	if e := q.Slot(i).Entry; e != nil {
		return i + e.Blocks
	}
	return i + 1
}

// Slot is the slot of a block; the queue has to be open.
func (q *Queue) Slot(i uint16) *Slot { return &q.Slots[int(i)&(len(q.Slots)-1)] }

// there reports whether the device has n blocks from one on.
func (q *Queue) there(i, n uint16) bool {
	for k := range n {
		if q.Slot(i+k).Block == nil {
			return false
		}
	}
	return true
}

// Forget empties the slots of an entry, the oldest or one of a queue that is off.
func (q *Queue) Forget(e *Entry) {
	for k := range e.Blocks {
		*q.Slot(e.Index + k) = Slot{}
	}
	if q.Oldest == e.Index {
		q.Oldest += e.Blocks
	}
}

// OwnerOf is the entry that a slot has a block of, nil if none is whole.
func (s *Slot) OwnerOf() *Entry {
	if s.Entry != nil {
		return s.Entry
	}
	return s.of
}
