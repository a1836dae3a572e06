package attribution

import (
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

func (q *Queue) Domain() verdict.Domain { return verdict.Txq(q.ID) }

// After is the index behind the entry at an index, or behind a block that is in
// none.
func (q *Queue) After(i uint16) uint16 {
	if e := q.Slot(i).Entry; e != nil {
		return i + e.Blocks
	}
	return i + 1
}

func (q *Queue) Slot(i uint16) *Slot { return &q.Slots[int(i)&(len(q.Slots)-1)] }

// wqeBlock is one block of a work entry.
type wqeBlock [nicspec.WqeBytes]byte

// BlockIn takes a block that the device has, as it was read or pushed.
func (es *Entries) BlockIn(q *Queue, i uint16, state rings.State, raw []byte) {
	s := q.Slot(i)
	s.State = state
	if s.Block == nil {
		s.Block = es.Blocks.Get()
	}
	copy(s.Block[:], raw)
}

// there reports whether the device has n blocks from one on.
func (q *Queue) there(i, n uint16) bool {
	for k := range n {
		if q.Slot(i+k).Block == nil {
			return false
		}
	}
	return true
}

// Waits reports whether the entry at an index waits for blocks that are not
// posted [T14].
func (es *Entries) Waits(q *Queue, i uint16) bool {
	b := q.Slot(i).Block
	return b != nil && uint16(core.WqeBlocks(b[:], es.limits.Parts)) > q.Ctx.PI-i
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

// Split takes the blocks of an entry apart again, of which one is read after all.
func (es *Entries) Split(q *Queue, e *Entry) {
	for k := range e.Blocks {
		s := q.Slot(e.Index + k)
		s.Entry, s.of = nil, nil
		es.BlockIn(q, e.Index+k, s.State, e.Raw[int(k)*nicspec.WqeBytes:])
	}
	if int16(e.Index-q.Whole) < 0 {
		q.Whole = e.Index
	}
	es.Release(e)
}

// FreeBlocks forgets the blocks of entries that never were whole.
func (es *Entries) FreeBlocks(q *Queue) {
	for i := range q.Slots {
		if b := q.Slots[i].Block; b != nil {
			es.Blocks.Put(b)
		}
		q.Slots[i] = Slot{}
	}
}

// OwnerOf is the entry that a slot has a block of, nil if none is whole.
func (s *Slot) OwnerOf() *Entry {
	if s.Entry != nil {
		return s.Entry
	}
	return s.of
}

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
	Entry *Entry    // that begins here, once all its blocks were read
	of    *Entry    // of which this is a later block
	Block *wqeBlock // as it was read, until its entry is whole
}

// NextWhole puts the first entry together of which all blocks are there and that
// none was made of yet, nil if there is none: each tells where the next one
// begins [T14].
func (es *Entries) NextWhole(q *Queue) *Entry {
	s := q.Slot(q.Whole)
	for q.Whole != q.Ctx.PI && s.Entry != nil {
		q.Whole += s.Entry.Blocks
		s = q.Slot(q.Whole)
	}
	if q.Whole == q.Ctx.PI || s.Block == nil {
		return nil
	}
	n := uint16(core.WqeBlocks(s.Block[:], es.limits.Parts))
	if n > q.Ctx.PI-q.Whole || !q.there(q.Whole, n) {
		return nil
	}
	e := es.entries.Get()
	e.reset(q, q.Whole, es.Now)
	e.Blocks = n
	for k := range n {
		b := q.Slot(q.Whole + k)
		copy(e.Raw[int(k)*nicspec.WqeBytes:], b.Block[:])
		es.Blocks.Put(b.Block)
		b.Block, b.of = nil, e
		e.Pushed = e.Pushed || b.State == rings.Pushed
	}
	s.Entry, s.of = e, nil
	q.Whole += n
	return e
}
