package host

import (
	"fmt"
	"sort"

	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

const (
	pageShift = 16
	pageBytes = 1 << pageShift
)

// Memory is sparse byte memory; bytes never written read as zero.
type Memory struct {
	size  uint64
	pages map[uint64]*[pageBytes]byte
	page  *[pageBytes]byte // the page used last, and its number
	num   uint64
}

// NewMemory returns a memory of size bytes.
func NewMemory(size uint64) *Memory {
	return &Memory{size: size, pages: map[uint64]*[pageBytes]byte{}}
}

// Size is the number of bytes.
func (m *Memory) Size() uint64 { return m.size }

// Has reports whether n bytes at addr lie inside.
func (m *Memory) Has(addr uint64, n int) bool {
	return addr <= m.size && uint64(n) <= m.size-addr
}

// Write stores b at addr. The range must lie inside: see Has.
func (m *Memory) Write(addr uint64, b []byte) {
	for len(b) > 0 {
		n := copy(m.at(addr, true)[addr&(pageBytes-1):], b)
		addr, b = addr+uint64(n), b[n:]
	}
}

// Read fills b with the bytes at addr. The range must lie inside: see Has.
func (m *Memory) Read(addr uint64, b []byte) {
	for len(b) > 0 {
		n := min(len(b), pageBytes-int(addr&(pageBytes-1)))
		if p := m.at(addr, false); p != nil {
			copy(b[:n], p[addr&(pageBytes-1):])
		} else {
			clear(b[:n])
		}
		addr, b = addr+uint64(n), b[n:]
	}
}

func (m *Memory) at(addr uint64, create bool) *[pageBytes]byte {
	num := addr >> pageShift
	if m.page != nil && m.num == num {
		return m.page
	}
	p := m.pages[num]
	if p == nil {
		if !create {
			return nil
		}
		p = new([pageBytes]byte)
		m.pages[num] = p
	}
	m.page, m.num = p, num
	return p
}

// Space is the bus address space as the root sees it: both memories, and who
// watches which range.
type Space struct {
	mem   [2]*Memory // by endpoint
	watch []watcher  // by address
	Stray int        // writes outside both memories
}

type watcher struct {
	from, to uint64
	f        func(addr uint64, n int)
}

// Split takes a bus address apart. [P1]
func Split(bus uint64) (endpoint int, offset uint64) {
	return int(bus >> nicspec.EndpointShift), bus & (1<<nicspec.EndpointShift - 1)
}

// Bus puts a bus address together. [P1]
func Bus(endpoint int, offset uint64) uint64 {
	return uint64(endpoint)<<nicspec.EndpointShift | offset
}

// find returns the memory that holds n bytes at a bus address, or nil.
func (s *Space) find(bus uint64, n int) (*Memory, uint64) {
	ep, off := Split(bus)
	if ep < len(s.mem) && s.mem[ep].Has(off, n) {
		return s.mem[ep], off
	}
	return nil, 0
}

// Write stores b at a bus address, as software or the NIC would.
func (s *Space) Write(bus uint64, b []byte) error {
	m, off := s.find(bus, len(b))
	if m == nil {
		return fmt.Errorf("host: write of %d B at %#x: no memory there", len(b), bus)
	}
	m.Write(off, b)
	return nil
}

// Read fills b from a bus address; it fits tlp.ReadFunc.
func (s *Space) Read(bus uint64, b []byte) error {
	m, off := s.find(bus, len(b))
	if m == nil {
		return fmt.Errorf("host: read of %d B at %#x: no memory there: %w", len(b), bus, tlp.ErrUnsupported)
	}
	m.Read(off, b)
	return nil
}

// Watch calls f after every write of the NIC that starts in n bytes at a bus
// address. Ranges must not overlap.
func (s *Space) Watch(bus uint64, n int, f func(addr uint64, n int)) error {
	w := watcher{bus, bus + uint64(n), f}
	i := sort.Search(len(s.watch), func(i int) bool { return s.watch[i].to > w.from })
	if i < len(s.watch) && s.watch[i].from < w.to {
		return fmt.Errorf("host: watch of %#x..%#x overlaps %#x..%#x", w.from, w.to, s.watch[i].from, s.watch[i].to)
	}
	s.watch = append(s.watch, watcher{})
	copy(s.watch[i+1:], s.watch[i:])
	s.watch[i] = w
	return nil
}

// store takes the enabled bytes of a memory write.
func (s *Space) store(h *tlp.Header, data []byte) {
	runs := h.Runs(data)
	for {
		addr, b, ok := runs.Next()
		if !ok {
			return
		}
		if s.Write(addr, b) != nil {
			s.Stray++
			continue
		}
		i := sort.Search(len(s.watch), func(i int) bool { return s.watch[i].to > addr })
		if i < len(s.watch) && s.watch[i].from <= addr {
			s.watch[i].f(addr, len(b))
		}
	}
}
