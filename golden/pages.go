package golden

import (
	"math"

	"nictwin/golden/verdict"
)

// pageMap finds, by address, the ranges of memory that the device may touch. A
// range is entered under each page that it covers; the ranges of a page are
// looked at in the order in which they were entered.
type pageMap struct {
	table []pageSlot // open addressing, a power of two
	spare []pageSlot // what table was before the latest rehash
	used  int        // slots that have a page, with or without ranges
	nodes []pageNode
	free  int32 // list of nodes, through next
}

type pageSlot struct {
	page       uint64
	head, tail int32
	used       bool
}

// pageNode is one range on one page.
type pageNode struct {
	lo, hi uint64 // lo <= address < hi
	owner  owner
	next   int32
}

// owner says whose a range is.
type owner struct {
	kind  ownerKind
	part  uint8    // of a descriptor: its buffer; of a work entry: its piece
	queue uint16   //
	index uint16   // of a descriptor
	entry *txEntry // of a piece
}

type ownerKind uint8

const (
	ownsRxCq ownerKind = iota
	ownsTxCq
	ownsBuffer // to which a descriptor points
	ownsRxRing
	ownsTxRing
	ownsPiece
	ownsCopy // where a copy writes
	ownsMsg  // where a queue's messages go; part tells receive from transmit queues
)

const (
	pageShift  = 12
	noNode     = -1
	firstPages = 1024
)

func newPageMap() pageMap {
	return pageMap{table: make([]pageSlot, firstPages), nodes: make([]pageNode, 0, firstPages), free: noNode}
}

func (m *pageMap) slot(page uint64) *pageSlot {
	mask := uint64(len(m.table) - 1)
	i := page * verdict.MixA >> 32 & mask
	for m.table[i].used && m.table[i].page != page {
		i = (i + 1) & mask
	}
	return &m.table[i]
}

// first returns the first range on the page of an address, noNode if none.
func (m *pageMap) first(addr uint64) int32 {
	if s := m.slot(addr >> pageShift); s.used {
		return s.head
	}
	return noNode
}

// add enters n bytes at an address; n is not 0.
func (m *pageMap) add(addr uint64, n int, o owner) {
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
		m.nodes[id] = pageNode{lo: addr, hi: hi, owner: o, next: noNode}
		if s.tail == noNode {
			s.head = id
		} else {
			m.nodes[s.tail].next = id
		}
		s.tail = id
	}
}

// remove takes out what add entered.
func (m *pageMap) remove(addr uint64, n int, o owner) {
	hi := end(addr, n)
	for page := addr >> pageShift; page <= (hi-1)>>pageShift; page++ {
		s := m.slot(page)
		if !s.used {
			continue
		}
		prev := int32(noNode)
		for id := s.head; id != noNode; prev, id = id, m.nodes[id].next {
			if node := &m.nodes[id]; node.lo == addr && node.hi == hi && node.owner == o {
				m.unlink(s, prev, id)
				break
			}
		}
	}
}

func (m *pageMap) unlink(s *pageSlot, prev, id int32) {
	node := &m.nodes[id]
	if prev == noNode {
		s.head = node.next
	} else {
		m.nodes[prev].next = node.next
	}
	if s.tail == id {
		s.tail = prev
	}
	*node = pageNode{next: m.free}
	m.free = id
}

func (m *pageMap) take() int32 {
	if id := m.free; id != noNode {
		m.free = m.nodes[id].next
		return id
	}
	m.nodes = append(m.nodes, pageNode{})
	return int32(len(m.nodes) - 1)
}

// rehash drops the pages that have no ranges any more, and grows the table if
// that does not make room.
func (m *pageMap) rehash() {
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
