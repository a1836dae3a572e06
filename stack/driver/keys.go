package driver

import (
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// KeySpec is a memory key as it is to be: Len bytes of virtual addresses from VA on name as many bus addresses from Bus
// on.
type KeySpec struct {
	Index   int
	Variant uint8 // must match in work entries: change it when the index is used again
	VA      uint64
	Bus     uint64
	Len     uint64     // bytes
	Rights  dma.Access // what the NIC may do there
}

// Key is a memory key that was set up.
type Key struct {
	KeySpec
	ID uint32 // as in work entries
}

// KeyID is how work entries name a memory key.
func KeyID(index int, variant uint8) uint32 { return uint32(variant)<<24 | uint32(index) }

// Validate returns every error of the spec, for a NIC with so many keys [G6].
func (s *KeySpec) Validate(keys int) error {
	if err := below("memory key", s.Index, keys); err != nil {
		return err
	}
	if s.VA+s.Len < s.VA && s.VA+s.Len != 0 {
		return fmt.Errorf("driver: memory key %d: %#x bytes from virtual address %#x on pass 2^64", s.Index, s.Len,
			s.VA)
	}
	const endpoint = 1 << nicspec.EndpointShift
	if left := endpoint - s.Bus%endpoint; s.Len > left {
		return fmt.Errorf("driver: memory key %d: %#x bytes from bus address %#x on leave the endpoint: want %#x at "+
			"most", s.Index, s.Len, s.Bus, left)
	}
	return nil
}

// SetKey sets a memory key up, or changes it. Change one only when the entries that use it have ended [T12].
func (d *Driver) SetKey(s KeySpec) (*Key, error) {
	if err := s.Validate(d.opts.Build.NumKeys); err != nil {
		return nil, err
	}
	f := nicspec.KeyEntryFields{
		Valid: 1, RightRead: s.Rights.Read, RightWrite: s.Rights.Write, Variant: s.Variant, VaBase: s.VA, Length: s.Len,
		BusBase: s.Bus,
	}
	var entry [nicspec.KeyEntrySize]byte
	f.Encode(entry[:])
	return &Key{s, KeyID(s.Index, s.Variant)}, d.WriteTable(nicspec.TableKey, s.Index, entry[:])
}

// DropKey makes a memory key invalid.
func (d *Driver) DropKey(index int) error {
	if err := below("memory key", index, d.opts.Build.NumKeys); err != nil {
		return err
	}
	return d.WriteTable(nicspec.TableKey, index, make([]byte, nicspec.KeyEntrySize))
}

// Span names Len bytes by a memory key, from an offset in its range on.
type Span struct {
	Key *Key
	Off uint64 // bytes
	Len uint32 // bytes
}

// Bus is the bus address of the first byte.
func (s *Span) Bus() uint64 { return s.Key.Bus + s.Off }

// encode writes the span as a piece of a work entry; a span without key is written as key 0, whose address is 0.
func (s *Span) encode(dst []byte) {
	f := nicspec.SegFields{Len: s.Len, Addr: s.Off}
	if s.Key != nil {
		f.Key, f.Addr = s.Key.ID, s.Key.VA+s.Off
	}
	f.Encode(dst)
}

// check refuses a span that the NIC would refuse, for the rights wanted [T3].
func (s *Span) check(what string, want dma.Access) error {
	switch {
	case s.Key == nil:
		return fmt.Errorf("%s has no memory key", what)
	case s.Len == 0:
		return fmt.Errorf("%s has 0 bytes: want 1 or more", what)
	case s.Off > s.Key.Len || uint64(s.Len) > s.Key.Len-s.Off:
		return fmt.Errorf("%s: %d bytes from offset %#x on are not inside memory key %d, which has %#x", what, s.Len,
			s.Off, s.Key.Index, s.Key.Len)
	case want.Read && !s.Key.Rights.Read:
		return fmt.Errorf("%s: memory key %d does not allow reads", what, s.Key.Index)
	case want.Write && !s.Key.Rights.Write:
		return fmt.Errorf("%s: memory key %d does not allow writes", what, s.Key.Index)
	}
	return nil
}
