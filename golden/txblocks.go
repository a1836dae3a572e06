package golden

import (
	"nictwin/golden/rings"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// wqeBlock is one block of a work entry.
type wqeBlock [nicspec.WqeBytes]byte

// blockIn takes a block that the device has, as it was read or pushed.
func (r *Referee) blockIn(q *txq, i uint16, state rings.State, raw []byte) {
	s := q.slot(i)
	s.state = state
	if s.block == nil {
		s.block = r.tx.blocks.Get()
	}
	copy(s.block[:], raw)
}

// wholeEntries begins with the entries of which all blocks are there, in the
// order of the ring: each tells where the next one begins [T14].
func (r *Referee) wholeEntries(q *txq) {
	for q.whole != q.ctx.PI {
		s := q.slot(q.whole)
		if s.entry != nil {
			q.whole += s.entry.blocks
			continue
		}
		if s.block == nil {
			break
		}
		n := uint16(core.WqeBlocks(s.block[:], r.tx.limits.Parts))
		if n > q.ctx.PI-q.whole || !q.there(q.whole, n) {
			break
		}
		e := r.tx.entries.Get()
		e.reset(q, q.whole, r.now)
		e.blocks = n
		for k := range n {
			b := q.slot(q.whole + k)
			copy(e.raw[int(k)*nicspec.WqeBytes:], b.block[:])
			r.tx.blocks.Put(b.block)
			b.block, b.of = nil, e
			e.pushed = e.pushed || b.state == rings.Pushed
		}
		s.entry, s.of = e, nil
		q.whole += n
		r.there(e)
	}
	r.settleEntries(q)
}

// there reports whether the device has n blocks from one on.
func (q *txq) there(i, n uint16) bool {
	for k := range n {
		if q.slot(i+k).block == nil {
			return false
		}
	}
	return true
}

// waits reports whether the entry at an index waits for blocks that are not
// posted [T14].
func (r *Referee) waits(q *txq, i uint16) bool {
	b := q.slot(i).block
	return b != nil && uint16(core.WqeBlocks(b[:], r.tx.limits.Parts)) > q.ctx.PI-i
}

// forget empties the slots of an entry, the oldest or one of a queue that is off.
func (q *txq) forget(e *txEntry) {
	for k := range e.blocks {
		*q.slot(e.index + k) = txSlot{}
	}
	if q.oldest == e.index {
		q.oldest += e.blocks
	}
}

// split takes the blocks of an entry apart again, of which one is read after all.
func (r *Referee) split(q *txq, e *txEntry) {
	for k := range e.blocks {
		s := q.slot(e.index + k)
		s.entry, s.of = nil, nil
		r.blockIn(q, e.index+k, s.state, e.raw[int(k)*nicspec.WqeBytes:])
	}
	if int16(e.index-q.whole) < 0 {
		q.whole = e.index
	}
	r.release(e)
}

// freeBlocks forgets the blocks of entries that never were whole.
func (r *Referee) freeBlocks(q *txq) {
	for i := range q.slots {
		if b := q.slots[i].block; b != nil {
			r.tx.blocks.Put(b)
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
