package mem

import "fmt"

const (
	pageShift = 16
	pageBytes = 1 << pageShift

	flatPages = 1 << 16 // pages of the first 4 GB, where most accesses go, are found without a map
)

// Sparse is byte memory that allocates only the pages that were written to. Other bytes read as
// zero. As a Target, its addresses start at 0.
type Sparse struct {
	size uint64
	low  []*[pageBytes]byte // the first pages, up to the last one written to
	far  map[uint64]*[pageBytes]byte
}

// NewSparse returns a memory of size bytes.
func NewSparse(size uint64) *Sparse {
	return &Sparse{size: size, far: map[uint64]*[pageBytes]byte{}}
}

// Size returns the size in bytes.
func (m *Sparse) Size() uint64 { return m.size }

// Has reports whether n bytes at addr lie inside the memory.
func (m *Sparse) Has(addr uint64, n int) bool {
	return n >= 0 && addr <= m.size && uint64(n) <= m.size-addr
}

// Write stores b at addr. The range must lie inside the memory: see Has.
func (m *Sparse) Write(addr uint64, b []byte) {
	for len(b) > 0 {
		n := copy(m.at(addr, true)[addr&(pageBytes-1):], b)
		addr, b = addr+uint64(n), b[n:]
	}
}

// Read fills b with the bytes at addr. The range must lie inside the memory: see Has.
func (m *Sparse) Read(addr uint64, b []byte) {
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

// Check implements Target.
func (m *Sparse) Check(op Op, addr uint64, n int) error {
	if m.Has(addr, n) {
		return nil
	}
	return &RangeError{op, addr, n, fmt.Sprintf("it has %#x B", m.size)}
}

// Access implements Target. There is no cache, so Clean and Invalidate do nothing.
func (m *Sparse) Access(a *Access) {
	err := m.Check(a.Op, a.Addr, a.Len())
	switch {
	case err != nil:
	case a.Op == Write:
		m.Write(a.Addr, a.Data)
	case a.Op == Read:
		m.Read(a.Addr, a.Data)
	}
	a.Finish(err)
}

// at returns the page of an address. If it was never written to, at creates it if create is set,
// else it returns nil.
func (m *Sparse) at(addr uint64, create bool) *[pageBytes]byte {
	num := addr >> pageShift
	if num < uint64(len(m.low)) && m.low[num] != nil {
		return m.low[num]
	}
	if p := m.far[num]; p != nil || !create {
		return p
	}
	return m.create(num)
}

func (m *Sparse) create(num uint64) *[pageBytes]byte {
	p := new([pageBytes]byte)
	if num >= flatPages {
		m.far[num] = p
		return p
	}
	if n := int(num) + 1; n > len(m.low) {
		m.low = append(m.low, make([]*[pageBytes]byte, n-len(m.low))...)
	}
	m.low[num] = p
	return p
}

var _ Target = (*Sparse)(nil)
