package golden

import (
	"math"
)

// pageMap finds, by address, ranges of memory and whose they are. A range is
// entered under each page that it covers; the ranges of a page are looked at in
// the order in which they were entered.
type pageMap[O comparable] struct {
	table []pageSlot // open addressing, a power of two
	spare []pageSlot // what table was before the latest rehash
	used  int        // slots that have a page, with or without ranges
	nodes []pageNode[O]
	free  int32 // list of nodes, through after
}

type pageSlot struct {
	page       uint64
	head, tail int32
	used       bool
}

// pageNode is one range on one page.
type pageNode[O comparable] struct {
	lo, hi uint64 // lo <= address < hi
	owner  O
	after  int32
}

const (
	pageShift  = 12
	noNode     = -1
	firstPages = 1024
	mix        = 0x9e3779b97f4a7c15 // odd: pages fall into all slots
)

func newPageMap[O comparable]() pageMap[O] {
	return pageMap[O]{table: make([]pageSlot, firstPages), nodes: make([]pageNode[O], 0, firstPages), free: noNode}
}

func (m *pageMap[O]) slot(page uint64) *pageSlot {
	mask := uint64(len(m.table) - 1)
	i := page * mix >> 32 & mask
	for m.table[i].used && m.table[i].page != page {
		i = (i + 1) & mask
	}
	return &m.table[i]
}

// first returns the first range on the page of an address, nil if none.
func (m *pageMap[O]) first(addr uint64) *pageNode[O] {
	if s := m.slot(addr >> pageShift); s.used {
		return m.at(s.head)
	}
	return nil
}

// next returns the range after one on the same page, nil if none.
func (m *pageMap[O]) next(n *pageNode[O]) *pageNode[O] { return m.at(n.after) }

func (m *pageMap[O]) at(id int32) *pageNode[O] {
	if id == noNode {
		return nil
	}
	return &m.nodes[id]
}

// add enters n bytes at an address; n is not 0.
func (m *pageMap[O]) add(addr uint64, n int, o O) {
	hi := end(addr, n)
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
		m.nodes[id] = pageNode[O]{lo: addr, hi: hi, owner: o, after: noNode}
		if s.tail == noNode {
			s.head = id
		} else {
			m.nodes[s.tail].after = id
		}
		s.tail = id
	}
}

// remove takes out what add entered.
func (m *pageMap[O]) remove(addr uint64, n int, o O) {
	hi := end(addr, n)
	for page := addr >> pageShift; page <= (hi-1)>>pageShift; page++ {
		s := m.slot(page)
		if !s.used {
			continue
		}
		prev := int32(noNode)
		for id := s.head; id != noNode; prev, id = id, m.nodes[id].after {
			if node := &m.nodes[id]; node.lo == addr && node.hi == hi && node.owner == o {
				m.unlink(s, prev, id)
				break
			}
		}
	}
}

func (m *pageMap[O]) unlink(s *pageSlot, prev, id int32) {
	node := &m.nodes[id]
	if prev == noNode {
		s.head = node.after
	} else {
		m.nodes[prev].after = node.after
	}
	if s.tail == id {
		s.tail = prev
	}
	*node = pageNode[O]{after: m.free}
	m.free = id
}

func (m *pageMap[O]) take() int32 {
	if id := m.free; id != noNode {
		m.free = m.nodes[id].after
		return id
	}
	m.nodes = append(m.nodes, pageNode[O]{})
	return int32(len(m.nodes) - 1)
}

// rehash drops the pages that have no ranges any more, and grows the table if
// that does not make room.
func (m *pageMap[O]) rehash() {
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

// end is the address after n bytes; it stops at the end of the address space.
func end(addr uint64, n int) uint64 {
	if e := addr + uint64(n); e > addr {
		return e
	}
	return math.MaxUint64
}
