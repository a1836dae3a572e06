package memory

import (
	"math"
)

// Map finds memory ranges and their owners by address. A range is entered under each page that it overlaps; the
// ranges of a page stay in the order in which they were entered.
type Map[E any] struct {
	table []pageSlot // hash table with open addressing; its length is a power of two
	spare []pageSlot // the table before the latest rehash, for reuse
	used  int        // number of slots with a page, with or without ranges
	nodes []Range[E]
	free  int32 // first free node; Range.after links them
}

type pageSlot struct {
	page       uint64
	head, tail int32
	used       bool
}

// Range is one range, as entered under one page.
type Range[E any] struct {
	Lo, Hi uint64 // lo <= address < hi
	Owner  Owner[E]
	after  int32
}

const (
	pageShift  = 12
	noNode     = -1
	firstPages = 1024
	mix        = 0x9e3779b97f4a7c15 // odd multiplier: spreads pages over all slots
)

// NewMap returns an empty map.
func NewMap[E any]() Map[E] {
	return Map[E]{table: make([]pageSlot, firstPages), nodes: make([]Range[E], 0, firstPages), free: noNode}
}

func (m *Map[E]) slot(page uint64) *pageSlot {
	mask := uint64(len(m.table) - 1)
	i := page * mix >> 32 & mask
	for m.table[i].used && m.table[i].page != page {
		i = (i + 1) & mask
	}
	return &m.table[i]
}

// First returns the first range on the page of an address, or nil.
func (m *Map[E]) First(addr uint64) *Range[E] {
	if s := m.slot(addr >> pageShift); s.used {
		return m.at(s.head)
	}
	return nil
}

// Next returns the range after n on the same page, or nil.
func (m *Map[E]) Next(n *Range[E]) *Range[E] { return m.at(n.after) }

func (m *Map[E]) at(id int32) *Range[E] {
	if id == noNode {
		return nil
	}
	return &m.nodes[id]
}

// Add enters n bytes at an address; n must not be 0.
func (m *Map[E]) Add(addr uint64, n int, o Owner[E]) {
	hi := End(addr, n)
	for page := addr >> pageShift; page <= (hi-1)>>pageShift; page++ {
		if 2*m.used >= len(m.table) {
			m.rehash()
		}
		s := m.slot(page)
		if !s.used {
			*s = pageSlot{page: page, head: noNode, tail: noNode, used: true}
			m.used++
		}
		id := m.take()
		m.nodes[id] = Range[E]{Lo: addr, Hi: hi, Owner: o, after: noNode}
		if s.tail == noNode {
			s.head = id
		} else {
			m.nodes[s.tail].after = id
		}
		s.tail = id
	}
}

// Remove removes a range that Add entered.
func (m *Map[E]) Remove(addr uint64, n int, o Owner[E]) {
	hi := End(addr, n)
	for page := addr >> pageShift; page <= (hi-1)>>pageShift; page++ {
		s := m.slot(page)
		if !s.used {
			continue
		}
		prev := int32(noNode)
		for id := s.head; id != noNode; prev, id = id, m.nodes[id].after {
			if node := &m.nodes[id]; node.Lo == addr && node.Hi == hi && node.Owner == o {
				m.unlink(s, prev, id)
				break
			}
		}
	}
}

func (m *Map[E]) unlink(s *pageSlot, prev, id int32) {
	node := &m.nodes[id]
	if prev == noNode {
		s.head = node.after
	} else {
		m.nodes[prev].after = node.after
	}
	if s.tail == id {
		s.tail = prev
	}
	*node = Range[E]{after: m.free}
	m.free = id
}

func (m *Map[E]) take() int32 {
	if id := m.free; id != noNode {
		m.free = m.nodes[id].after
		return id
	}
	m.nodes = append(m.nodes, Range[E]{})
	return int32(len(m.nodes) - 1)
}

// rehash drops pages without ranges, and grows the table if that does not make enough room.
func (m *Map[E]) rehash() {
	old, live := m.table, 0
	for i := range old {
		if old[i].used && old[i].head != noNode {
			live++
		}
	}
	size := len(old)
	for size < 4*live {
		size *= 2
	}
	if len(m.spare) != size {
		m.spare = make([]pageSlot, size)
	}
	clear(m.spare)
	m.table, m.spare, m.used = m.spare, old, live
	for i := range old {
		if old[i].used && old[i].head != noNode {
			*m.slot(old[i].page) = old[i]
		}
	}
}

// Within reports whether n bytes at an address lie in a range whose owner is of one of these kinds.
func (m *Map[E]) Within(addr uint64, n int, of Kinds) bool {
	for node := m.First(addr); node != nil; node = m.Next(node) {
		if of.has(node.Owner.Kind) && node.Lo <= addr && End(addr, n) <= node.Hi {
			return true
		}
	}
	return false
}

// End returns addr+n, or the end of the address space if that is less.
func End(addr uint64, n int) uint64 {
	if e := addr + uint64(n); e > addr {
		return e
	}
	return math.MaxUint64
}
