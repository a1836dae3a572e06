package driver

import "nictwin/models/nic/nicspec"

// Layout describes the placement of a ring and its completion ring. Indices run freely modulo 2^16 and map to slots
// [Q1], [Q7], [T1].
type Layout struct {
	Base uint64 // bus address of the ring
	CQ   uint64 // bus address of the completion ring, which has as many entries as the ring at Base
	Log  int    // log2 of the entries
	Slot int    // bytes of an entry of the ring
}

// Size returns the number of entries of the ring.
func (l *Layout) Size() int { return 1 << l.Log }

// Bytes returns the length of the ring.
func (l *Layout) Bytes() int { return l.Size() * l.Slot }

// CQBytes returns the length of the completion ring.
func (l *Layout) CQBytes() int { return l.Size() * nicspec.CqeBytes }

// Place returns the slot of the entry at an index.
func (l *Layout) Place(i uint16) int { return int(i) & (l.Size() - 1) }

// At returns the bus address of the entry at an index.
func (l *Layout) At(i uint16) uint64 { return l.Base + uint64(l.Place(i)*l.Slot) }

// CqeAt returns the bus address of completion entry i, counted from 0.
func (l *Layout) CqeAt(i uint16) uint64 { return l.CQ + uint64(l.Place(i)*nicspec.CqeBytes) }

// Phase returns the phase bit of completion entry i [Q8].
func (l *Layout) Phase(i uint16) bool { return i>>l.Log&1 == 0 }

// Written reports whether the bytes of a slot are completion entry i: entries of the previous lap have the other phase,
// and the ring was cleared before the queue was enabled.
func (l *Layout) Written(cqe []byte, i uint16) bool { return nicspec.RxCqe(cqe).Phase() == l.Phase(i) }

// Contains reports whether a bus address lies in the ring.
func (l *Layout) Contains(addr uint64) bool { return addr >= l.Base && addr-l.Base < uint64(l.Bytes()) }

// CQContains reports whether a bus address lies in the completion ring.
func (l *Layout) CQContains(addr uint64) bool { return addr >= l.CQ && addr-l.CQ < uint64(l.CQBytes()) }
