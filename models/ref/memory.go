package ref

import (
	"encoding/binary"
	"fmt"
)

// Memory is a sparse memory. Bytes that were never written have values derived from the memory's seed, so that a
// read from a wrong address shows.
type Memory struct {
	Name  string
	seed  uint64
	pages map[uint64]*[pageBytes]byte
}

const pageBytes = 4096

// NewMemory returns a new memory with random contents.
func (p *Player) NewMemory(name string) *Memory {
	return &Memory{Name: name, seed: p.rand.Uint64(), pages: map[uint64]*[pageBytes]byte{}}
}

// Clone returns an independent copy of the memory.
func (m *Memory) Clone() *Memory {
	c := &Memory{Name: m.Name, seed: m.seed, pages: map[uint64]*[pageBytes]byte{}}
	for n, g := range m.pages {
		x := *g
		c.pages[n] = &x
	}
	return c
}

// page returns the page of an address, which it creates on first use.
func (m *Memory) page(addr uint64) *[pageBytes]byte {
	n := addr / pageBytes
	if g := m.pages[n]; g != nil {
		return g
	}
	g := new([pageBytes]byte)
	x := m.seed + n*0x9e3779b97f4a7c15
	for i := 0; i < pageBytes; i += 8 {
		x += 0x9e3779b97f4a7c15
		z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(g[i:], z^z>>31)
	}
	m.pages[n] = g
	return g
}

// Read returns n bytes from an address.
func (m *Memory) Read(addr uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		a := addr + uint64(i)
		b[i] = m.page(a)[a%pageBytes]
	}
	return b
}

// Write writes bytes to an address.
func (m *Memory) Write(addr uint64, b []byte) {
	for i, x := range b {
		a := addr + uint64(i)
		m.page(a)[a%pageBytes] = x
	}
}

// WriteStrobed writes the bytes whose strobe bit is set; bit 0 belongs to the first byte.
func (m *Memory) WriteStrobed(addr uint64, b, strobe []byte) {
	for i, x := range b {
		if i/8 < len(strobe) && strobe[i/8]>>(i%8)&1 == 1 {
			a := addr + uint64(i)
			m.page(a)[a%pageBytes] = x
		}
	}
}

// Same checks that n bytes of m at address `at` equal those of memory `as` at address `from`; `what` names the job that
// moved them.
func (p *Player) Same(m *Memory, at uint64, as *Memory, from uint64, n int, what string) {
	p.same++
	for i := range uint64(n) {
		want, got := as.page(from + i)[(from+i)%pageBytes], m.page(at + i)[(at+i)%pageBytes]
		if want != got {
			p.Fail(Failure{
				Field:    fmt.Sprintf("%s: byte %d of %d, at %s %#x", what, i, n, m.Name, at+i),
				Expected: fmt.Sprintf("%#02x as at %s %#x", want, as.Name, from+i),
				Got:      fmt.Sprintf("%#02x", got),
			})
			return
		}
	}
}

// Spans holds ranges of bytes that were requested and have not come yet.
type Spans struct {
	from []uint64 // begin of each range; ranges are sorted and disjoint
	to   []uint64
}

// Add adds a range of requested bytes. It returns false, and changes nothing, if some of them were requested
// before.
func (s *Spans) Add(at uint64, n int) bool {
	if n <= 0 {
		return true
	}
	end := at + uint64(n)
	i := 0
	for i < len(s.from) && s.to[i] <= at {
		i++
	}
	if i < len(s.from) && s.from[i] < end {
		return false
	}
	s.from = append(s.from[:i], append([]uint64{at}, s.from[i:]...)...)
	s.to = append(s.to[:i], append([]uint64{end}, s.to[i:]...)...)
	return true
}

// Take removes bytes that have come. It returns false at the first byte that is not outstanding; those before it
// are removed.
func (s *Spans) Take(at uint64, n int) bool {
	for n > 0 {
		i := 0
		for i < len(s.from) && s.to[i] <= at {
			i++
		}
		if i == len(s.from) || s.from[i] > at {
			return false
		}
		end := min(at+uint64(n), s.to[i])
		s.cut(i, at, end)
		n -= int(end - at)
		at = end
	}
	return true
}

// cut removes a part of range number i.
func (s *Spans) cut(i int, at, end uint64) {
	from, to := s.from[i], s.to[i]
	s.from, s.to = append(s.from[:i], s.from[i+1:]...), append(s.to[:i], s.to[i+1:]...)
	if from < at {
		s.Add(from, int(at-from))
	}
	if end < to {
		s.Add(end, int(to-end))
	}
}

// Bytes returns the number of outstanding bytes.
func (s *Spans) Bytes() int {
	n := uint64(0)
	for i := range s.from {
		n += s.to[i] - s.from[i]
	}
	return int(n)
}
