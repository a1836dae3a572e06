package driver

import "nictwin/models/nic/nicspec"

// Layout is where a ring and its completion ring lie, and how indices, which run freely modulo 2^16, name their slots
// [Q1], [Q7], [T1].
type Layout struct {
	Base uint64 // bus address of the ring
	CQ   uint64 // of the completion ring, which has as many entries
	Log  int    // log2 of the entries
	Slot int    // bytes of an entry of the ring
}

// Size is the number of entries of the ring.
func (l *Layout) Size() int { return 1 << l.Log }

// Bytes is the length of the ring.
func (l *Layout) Bytes() int { return l.Size() * l.Slot }

// CQBytes is the length of the completion ring.
func (l *Layout) CQBytes() int { return l.Size() * nicspec.CqeBytes }

// Place is the slot of the entry at an index.
func (l *Layout) Place(i uint16) int { return int(i) & (l.Size() - 1) }

// At is the bus address of the entry at an index.
func (l *Layout) At(i uint16) uint64 { return l.Base + uint64(l.Place(i)*l.Slot) }

// CqeAt is the bus address of a completion entry, by how many were written before it.
func (l *Layout) CqeAt(i uint16) uint64 { return l.CQ + uint64(l.Place(i)*nicspec.CqeBytes) }

// Phase is the phase bit of a completion entry, likewise [Q8].
func (l *Layout) Phase(i uint16) bool { return i>>l.Log&1 == 0 }

// Written reports whether the bytes of a slot are the completion entry before which i were written: those of the lap
// before have another phase. The ring was cleared before the queue was enabled.
func (l *Layout) Written(cqe []byte, i uint16) bool { return nicspec.RxCqe(cqe).Phase() == l.Phase(i) }

// Contains reports whether a bus address lies in the ring.
func (l *Layout) Contains(addr uint64) bool { return addr >= l.Base && addr-l.Base < uint64(l.Bytes()) }

// CQContains reports whether a bus address lies in the completion ring.
func (l *Layout) CQContains(addr uint64) bool { return addr >= l.CQ && addr-l.CQ < uint64(l.CQBytes()) }
