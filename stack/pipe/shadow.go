package pipe

import (
	"errors"
	"fmt"
	"sort"

	"nictwin/stack/driver"
)

// ErrUnknown is wrapped by errors about a key or address without a shadow region.
var ErrUnknown = errors.New("no such shadow region")

// pageBytes is the page size of host and Arm: a region starts at the same page offset on both.
const pageBytes = 4096

// Region is a shadow region: Arm addresses without memory behind them, which the NIC maps to host memory. A load or
// store of a core to them faults.
type Region struct {
	Key   uint32 // key of the host's memory region
	Host  uint64
	Arm   uint64
	Bytes uint64
}

// Shadow manages the shadow regions of a card. The kernel module registers them; the library translates addresses when
// it posts (FN 3.2).
type Shadow struct {
	arena  *driver.Arena
	base   uint64
	size   uint64
	byKey  map[uint32]*Region
	sorted []*Region // by Arm address
}

// Extent is a range of addresses.
type Extent struct{ From, Bytes uint64 }

// NewShadow reserves a range of Arm addresses, which must not overlap the Arm's memories.
func NewShadow(reserve Extent, memories ...Extent) (*Shadow, error) {
	end := reserve.From + reserve.Bytes
	if reserve.Bytes == 0 || end < reserve.From || reserve.From%pageBytes != 0 || reserve.Bytes%pageBytes != 0 {
		return nil, fmt.Errorf("pipe: shadow range %#x of %#x B: want whole pages of %d B", reserve.From, reserve.Bytes,
			pageBytes)
	}
	for _, m := range memories {
		if reserve.From < m.From+m.Bytes && m.From < end {
			return nil, fmt.Errorf("pipe: shadow range %#x to %#x overlaps memory %#x to %#x: want addresses without "+
				"memory", reserve.From, end, m.From, m.From+m.Bytes)
		}
	}
	return &Shadow{arena: driver.NewArena(reserve.From, reserve.Bytes), base: reserve.From, size: reserve.Bytes,
		byKey: map[uint32]*Region{}}, nil
}

// Register creates the shadow of a host memory region. Two shadows may stand for the same host memory; their Arm
// addresses differ.
func (s *Shadow) Register(key uint32, host, bytes uint64) (Region, error) {
	if s.byKey[key] != nil {
		return Region{}, fmt.Errorf("pipe: key %#x has a shadow region: want it released first", key)
	}
	offset := host % pageBytes
	if bytes == 0 || host+bytes < host || bytes > s.size {
		return Region{}, fmt.Errorf("pipe: a shadow of %#x B at %#x: want 1 B to %#x, and an end below 2^64", bytes,
			host, s.size)
	}
	pages := (offset + bytes + pageBytes - 1) / pageBytes
	at, err := s.arena.Alloc(pages*pageBytes, pageBytes)
	if err != nil {
		return Region{}, fmt.Errorf("pipe: no shadow addresses left for %#x B: %w", bytes, err)
	}
	r := &Region{key, host, at + offset, bytes}
	s.byKey[key] = r
	i := s.indexAfter(r.Arm)
	s.sorted = append(s.sorted, nil)
	copy(s.sorted[i+1:], s.sorted[i:])
	s.sorted[i] = r
	return *r, nil
}

// indexAfter returns the index of the first region that begins after an address.
func (s *Shadow) indexAfter(arm uint64) int {
	return sort.Search(len(s.sorted), func(i int) bool { return s.sorted[i].Arm > arm })
}

// Release removes the shadow of a key.
func (s *Shadow) Release(key uint32) error {
	r := s.byKey[key]
	if r == nil {
		return fmt.Errorf("pipe: releasing key %#x: %w", key, ErrUnknown)
	}
	delete(s.byKey, key)
	i := s.indexAfter(r.Arm) - 1
	s.sorted = append(s.sorted[:i], s.sorted[i+1:]...)
	return s.arena.Free(r.Arm - r.Arm%pageBytes)
}

// Swap returns the Arm address that stands for n bytes at a host address in the region of a key.
func (s *Shadow) Swap(key uint32, host uint64, n uint64) (uint64, error) {
	r := s.byKey[key]
	switch {
	case r == nil:
		return 0, fmt.Errorf("pipe: key %#x: %w", key, ErrUnknown)
	case host < r.Host || n > r.Bytes || host-r.Host > r.Bytes-n:
		return 0, fmt.Errorf("pipe: %d B at %#x: want bytes of %#x to %#x, the region of key %#x", n, host, r.Host,
			r.Host+r.Bytes, key)
	}
	return r.Arm + (host - r.Host), nil
}

// HostOf returns the region and host address behind an Arm address, if the n bytes there belong to one region.
func (s *Shadow) HostOf(arm uint64, n uint64) (Region, uint64, error) {
	if i := s.indexAfter(arm) - 1; i >= 0 {
		if r := s.sorted[i]; n <= r.Bytes && arm-r.Arm <= r.Bytes-n {
			return *r, r.Host + (arm - r.Arm), nil
		}
	}
	return Region{}, 0, fmt.Errorf("pipe: %d B at Arm address %#x: %w", n, arm, ErrUnknown)
}
