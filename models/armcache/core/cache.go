package core

import (
	"fmt"

	"nictwin/models/mem"
)

// chunkSets is how many sets are allocated together, when one of them is used.
const chunkSets = 16

// State of a line.
const (
	dirty   = 1 << iota // newer than memory
	pending             // the rest of it is being fetched
	byCore              // it belongs to a core, not to a device
)

// chunk is the lines of some sets. A line's place is its way in its set.
type chunk struct {
	tag   []uint64 // line number plus one; 0: empty
	used  []uint64 // when it was used last, in steps
	have  []uint64 // which of its bytes are here
	state []uint8
	data  []byte
}

// place names a line of the cache.
type place struct {
	*chunk
	at int
}

func (p place) bytes() []byte { return p.data[p.at*mem.LineBytes : (p.at+1)*mem.LineBytes] }

func (p place) owner() mem.Agent {
	if p.state[p.at]&byCore != 0 {
		return mem.Core
	}
	return mem.Device
}

// Cache is the lines, and what was done with them.
type Cache struct {
	Counters

	geometry Geometry
	sets     uint64
	pow2     bool
	all      uint64 // mask of all ways
	random   bool
	hashed   bool
	chunks   []*chunk
	now      uint64 // steps that used a line
	victims  uint64 // chosen by Random so far
	pending  int
}

// New makes an empty cache.
func New(g Geometry) (*Cache, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	n := g.Sets()
	return &Cache{
		geometry: g, sets: n, pow2: n&(n-1) == 0, all: FirstWays(g.Ways),
		random: g.Replacement == Random, hashed: g.Index == Hashed,
		chunks: make([]*chunk, (n+chunkSets-1)/chunkSets),
	}, nil
}

// Pending is the number of lines whose fetch is under way.
func (c *Cache) Pending() int { return c.pending }

// set is where the ways of a line's set begin.
func (c *Cache) set(line uint64) place {
	n := line
	if c.hashed {
		n = Mix(line)
	}
	if c.pow2 {
		n &= c.sets - 1
	} else {
		n %= c.sets
	}
	ch := c.chunks[n/chunkSets]
	if ch == nil {
		lines := chunkSets * c.geometry.Ways
		ch = &chunk{
			tag: make([]uint64, lines), used: make([]uint64, lines), have: make([]uint64, lines),
			state: make([]uint8, lines), data: make([]byte, lines*mem.LineBytes),
		}
		c.chunks[n/chunkSets] = ch
	}
	return place{ch, int(n%chunkSets) * c.geometry.Ways}
}

// find looks for a line in its set.
func (c *Cache) find(set place, line uint64) (place, bool) {
	for i, tag := range set.tag[set.at : set.at+c.geometry.Ways] {
		if tag == line+1 {
			return place{set.chunk, set.at + i}, true
		}
	}
	return place{}, false
}

// victim chooses the way of a set that a line goes to. It fails if every way
// that may be used waits for its fetch.
func (c *Cache) victim(set place, ways uint64) (place, bool) {
	best, free := -1, 0
	for i := range c.geometry.Ways {
		at := set.at + i
		switch {
		case ways>>i&1 == 0:
		case set.tag[at] == 0:
			return place{set.chunk, at}, true
		case set.state[at]&pending != 0:
		default:
			if free++; best < 0 || set.used[at] < set.used[best] {
				best = at
			}
		}
	}
	if free == 0 {
		return place{}, false
	}
	if c.random {
		best = c.draw(set, ways, free)
	}
	return place{set.chunk, best}, true
}

// draw chooses among the free ways of a set by the number of victims so far.
func (c *Cache) draw(set place, ways uint64, free int) int {
	const step = 0x9e3779b97f4a7c15
	n := int(Mix(c.geometry.Seed+c.victims*step) % uint64(free))
	for i := range c.geometry.Ways {
		if at := set.at + i; ways>>i&1 != 0 && set.state[at]&pending == 0 {
			if n == 0 {
				return at
			}
			n--
		}
	}
	panic("core: there are fewer free ways than were counted")
}

// Fill gives the cache a line that it asked for: the bytes that it lacks.
func (c *Cache) Fill(line uint64, data []byte) error {
	p, ok := c.find(c.set(line), line)
	if !ok || p.state[p.at]&pending == 0 || len(data) != mem.LineBytes {
		return fmt.Errorf("core: fill of line %#x with %d B: want %d B of a line that is being fetched", line, len(data), mem.LineBytes)
	}
	b, have := p.bytes(), p.have[p.at]
	if have == 0 {
		copy(b, data)
	} else {
		for i, v := range data {
			if have>>i&1 == 0 {
				b[i] = v
			}
		}
	}
	p.have[p.at] = whole
	p.state[p.at] &^= pending
	c.pending--
	return nil
}

// Fail gives up on a line that memory does not give: it is dropped. lost says
// that bytes were written to it meanwhile.
func (c *Cache) Fail(line uint64) (lost bool, err error) {
	p, ok := c.find(c.set(line), line)
	if !ok || p.state[p.at]&pending == 0 {
		return false, fmt.Errorf("core: failure of line %#x, which is not being fetched", line)
	}
	c.Counters[p.owner()].FailedFetches++
	lost = p.state[p.at]&dirty != 0
	p.tag[p.at], p.state[p.at] = 0, 0
	c.pending--
	return lost, nil
}

// Peek copies the bytes of b that the cache has, and leaves the others. It
// counts as nothing.
func (c *Cache) Peek(line uint64, off int, b []byte) {
	c.overlap(line, off, b, func(own, b []byte) { copy(b, own) })
}

// Poke replaces bytes that the cache has by those of b. It counts as nothing.
func (c *Cache) Poke(line uint64, off int, b []byte) {
	c.overlap(line, off, b, func(own, b []byte) { copy(own, b) })
}

func (c *Cache) overlap(line uint64, off int, b []byte, each func(own, b []byte)) {
	p, ok := c.find(c.set(line), line)
	if !ok {
		return
	}
	for i := range b {
		if p.have[p.at]>>(off+i)&1 != 0 {
			each(p.bytes()[off+i:off+i+1], b[i:i+1])
		}
	}
}

// Resident counts the lines that are here, and those of them that are dirty.
func (c *Cache) Resident() (lines, dirtyLines int) {
	for _, ch := range c.chunks {
		if ch == nil {
			continue
		}
		for i, tag := range ch.tag {
			if tag != 0 {
				lines++
				dirtyLines += int(ch.state[i] & dirty)
			}
		}
	}
	return lines, dirtyLines
}
