package core

import (
	"slices"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// Key is a memory key: it maps a range of virtual addresses to bus addresses.
type Key struct {
	VABase  uint64
	Length  uint64
	BusBase uint64
	Valid   bool
	Read    bool
	Write   bool
	Variant uint8
}

// KeyTable holds the memory keys by index. Its methods do not change it.
type KeyTable []Key

// Clone returns a copy, which later writes do not change.
func (t KeyTable) Clone() KeyTable { return slices.Clone(t) }

// Layout of a key in a piece.
const (
	keyIndexMask    = 0xffff
	keyReservedMask = 0xff0000
	keyVariantShift = 24
)

// Translate returns the bus address of n bytes at a virtual address, for reading [T3, T4]. The address is valid
// only with StatusOk.
func (t KeyTable) Translate(key uint32, va uint64, n uint32) (bus uint64, s nicspec.Status) {
	return t.Resolve(key, va, n, dma.Access{Read: true})
}

// Resolve is Translate for any access; it implements dma.Keys.
func (t KeyTable) Resolve(key uint32, va uint64, n uint32, need dma.Access) (bus uint64, s nicspec.Status) {
	i := key & keyIndexMask
	if uint64(i) >= uint64(len(t)) {
		return 0, nicspec.StatusBadKey
	}
	k := &t[i]
	off := va - k.VABase
	switch {
	case !k.Valid || k.Variant != uint8(key>>keyVariantShift):
		return 0, nicspec.StatusBadKey
	case need.Read && !k.Read, need.Write && !k.Write:
		return 0, nicspec.StatusKeyRights
	case va < k.VABase || off > k.Length || uint64(n) > k.Length-off:
		return 0, nicspec.StatusKeyBounds
	}
	return k.BusBase + off, nicspec.StatusOk
}

var _ dma.Keys = KeyTable(nil)
