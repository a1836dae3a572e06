package golden

import (
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

func (q *entryQueue) domain() verdict.Domain { return verdict.Txq(q.id) }

// after is the index behind the entry at an index, or behind a block that is in
// none.
func (q *entryQueue) after(i uint16) uint16 {
	if e := q.slot(i).entry; e != nil {
		return i + e.blocks
	}
	return i + 1
}

func (q *entryQueue) slot(i uint16) *txSlot { return &q.slots[int(i)&(len(q.slots)-1)] }

// wqeBlock is one block of a work entry.
type wqeBlock [nicspec.WqeBytes]byte

// blockIn takes a block that the device has, as it was read or pushed.
func (es *Entries) blockIn(q *entryQueue, i uint16, state rings.State, raw []byte) {
	s := q.slot(i)
	s.state = state
	if s.block == nil {
		s.block = es.blocks.Get()
	}
	copy(s.block[:], raw)
}

// there reports whether the device has n blocks from one on.
func (q *entryQueue) there(i, n uint16) bool {
	for k := range n {
		if q.slot(i+k).block == nil {
			return false
		}
	}
	return true
}

// waits reports whether the entry at an index waits for blocks that are not
// posted [T14].
func (es *Entries) waits(q *entryQueue, i uint16) bool {
	b := q.slot(i).block
	return b != nil && uint16(core.WqeBlocks(b[:], es.limits.Parts)) > q.ctx.PI-i
}

// forget empties the slots of an entry, the oldest or one of a queue that is off.
func (q *entryQueue) forget(e *txEntry) {
	for k := range e.blocks {
		*q.slot(e.index + k) = txSlot{}
	}
	if q.oldest == e.index {
		q.oldest += e.blocks
	}
}

// split takes the blocks of an entry apart again, of which one is read after all.
func (es *Entries) split(q *entryQueue, e *txEntry) {
	for k := range e.blocks {
		s := q.slot(e.index + k)
		s.entry, s.of = nil, nil
		es.blockIn(q, e.index+k, s.state, e.raw[int(k)*nicspec.WqeBytes:])
	}
	if int16(e.index-q.whole) < 0 {
		q.whole = e.index
	}
	es.release(e)
}

// freeBlocks forgets the blocks of entries that never were whole.
func (es *Entries) freeBlocks(q *entryQueue) {
	for i := range q.slots {
		if b := q.slots[i].block; b != nil {
			es.blocks.Put(b)
		}
		q.slots[i] = txSlot{}
	}
}

// ownerOf is the entry that a slot has a block of, nil if none is whole.
func (s *txSlot) ownerOf() *txEntry {
	if s.entry != nil {
		return s.entry
	}
	return s.of
}

// entryQueue is the entries of one transmit queue.
type entryQueue struct {
	id    int
	ctx   core.Queue // as enabled last; CI counts the entries seen to end
	epoch uint32     // counts the enablings
	open  bool       // enabled, or being disabled

	oldest        uint16 // first entry that is not done with
	sends, copies bool   // has had such entries

	slots []txSlot // of a block each, by index mod twice the ring size
	whole uint16   // first block that is in no entry yet
}

// txSlot is one entry of the ring.
type txSlot struct {
	state rings.State
	entry *txEntry  // that begins here, once all its blocks were read
	of    *txEntry  // of which this is a later block
	block *wqeBlock // as it was read, until its entry is whole
}

// nextWhole puts the first entry together of which all blocks are there and that
// none was made of yet, nil if there is none: each tells where the next one
// begins [T14].
func (es *Entries) nextWhole(q *entryQueue) *txEntry {
	s := q.slot(q.whole)
	for q.whole != q.ctx.PI && s.entry != nil {
		q.whole += s.entry.blocks
		s = q.slot(q.whole)
	}
	if q.whole == q.ctx.PI || s.block == nil {
		return nil
	}
	n := uint16(core.WqeBlocks(s.block[:], es.limits.Parts))
	if n > q.ctx.PI-q.whole || !q.there(q.whole, n) {
		return nil
	}
	e := es.entries.Get()
	e.reset(q, q.whole, es.now)
	e.blocks = n
	for k := range n {
		b := q.slot(q.whole + k)
		copy(e.raw[int(k)*nicspec.WqeBytes:], b.block[:])
		es.blocks.Put(b.block)
		b.block, b.of = nil, e
		e.pushed = e.pushed || b.state == rings.Pushed
	}
	s.entry, s.of = e, nil
	q.whole += n
	return e
}
