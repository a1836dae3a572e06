package driver

import (
	"fmt"

	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
)

// KeySpec describes a memory key: it maps Len bytes of virtual addresses at VA to bus addresses at Bus.
type KeySpec struct {
	Index   int
	Variant uint8 // must match in work entries: change Variant when the index is reused
	VA      uint64
	Bus     uint64
	Len     uint64     // length of the range in bytes
	Rights  dma.Access // the NIC's access rights
}

// Key is a memory key that has been set up.
type Key struct {
	KeySpec
	ID uint32 // value in work entries
}

// KeyID returns the value that names a memory key in work entries.
func KeyID(index int, variant uint8) uint32 { return uint32(variant)<<24 | uint32(index) }

// Validate returns every error of the spec, for a NIC with the given number of keys [G6].
func (s *KeySpec) Validate(keys int) error {
	if err := checkIndex("memory key", s.Index, keys); err != nil {
		return err
	}
	if s.VA+s.Len < s.VA && s.VA+s.Len != 0 {
		return fmt.Errorf("driver: memory key %d: %#x bytes from virtual address %#x on pass 2^64", s.Index, s.Len,
			s.VA)
	}
	const endpoint = 1 << nicspec.EndpointShift
	if available := endpoint - s.Bus%endpoint; s.Len > available {
		return fmt.Errorf("driver: memory key %d: %#x bytes from bus address %#x on leave the endpoint: want %#x at "+
			"most", s.Index, s.Len, s.Bus, available)
	}
	return nil
}

// SetKey sets up or changes a memory key. Change one only after the entries that use it have ended [T12].
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
	d.keys[s.Index] = s
	return &Key{s, KeyID(s.Index, s.Variant)}, d.WriteTable(nicspec.TableKey, s.Index, entry[:])
}

// BusAddress returns the bus address that a memory key, as last set, gives to a virtual address; ok is false for a key
// that was never set.
func (d *Driver) BusAddress(id uint32, va uint64) (bus uint64, ok bool) {
	k, ok := d.keys[int(id&0xffff)]
	return k.Bus + va - k.VA, ok
}

// DropKey invalidates a memory key. No unfinished entry may use it [T12].
func (d *Driver) DropKey(index int) error {
	if err := checkIndex("memory key", index, d.opts.Build.NumKeys); err != nil {
		return err
	}
	return d.WriteTable(nicspec.TableKey, index, make([]byte, nicspec.KeyEntrySize))
}

// Span is Len bytes at an offset in a memory key's range.
type Span struct {
	Key *Key
	Off uint64 // offset in the key's range in bytes
	Len uint32 // length in bytes
}

// Bus returns the bus address of the first byte.
func (s *Span) Bus() uint64 { return s.Key.Bus + s.Off }

// encode writes the span as a piece of a work entry; a span without a key is written as key 0 with an address of Off.
func (s *Span) encode(dst []byte) {
	f := nicspec.SegFields{Len: s.Len, Addr: s.Off}
	if s.Key != nil {
		f.Key, f.Addr = s.Key.ID, s.Key.VA+s.Off
	}
	f.Encode(dst)
}

// check returns an error for a span that the NIC would refuse, given the access wanted [T3].
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
