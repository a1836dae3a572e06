package core

import (
	"fmt"

	"nictwin/models/memory/mem"
)

// groupSets is the number of sets whose rows are allocated together.
const groupSets = 128

// Cache is the set of cached lines, with their bytes and the counters of their use.
type Cache struct {
	Counters

	// IsBuffer reports whether a line is in an I/O buffer, whose lookups are counted apart; nil: none are.
	IsBuffer func(line uint64) bool

	geometry Geometry
	sets     uint64
	pow2     bool
	all      uint64 // mask with a bit for every way
	random   bool
	hashed   bool
	rows     [][]place // by group of sets: a place for each set and way; nil: no set of the group was ever used
	pool     pool
	index    directory
	now      uint64 // LRU clock: number of steps that used a line
	victims  uint64 // number of victims that the policy Random has chosen
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
		rows: make([][]place, (n+groupSets-1)/groupSets), index: directory{runs: map[uint64]*[runBlocks]*block{}},
	}, nil
}

// Pending returns the number of lines being fetched.
func (c *Cache) Pending() int { return c.pending }

// Each calls f for each cached line, in no particular order: with its address, and the agent that it belongs to.
func (c *Cache) Each(f func(addr uint64, owner mem.Agent)) {
	for _, run := range c.index.runs {
		for _, b := range run {
			for i := range uint64(blockLines) {
				if b != nil && b.state[i] != 0 {
					l := line{b, i}
					f(l.lineNumber()*mem.LineBytes, l.owner())
				}
			}
		}
	}
}

// setOf returns the number of a line's set.
func (c *Cache) setOf(number uint64) uint64 {
	if c.hashed {
		number = Mix(number)
	}
	if c.pow2 {
		return number & (c.sets - 1)
	}
	return number % c.sets
}

// row returns the places of a set, one for each way.
func (c *Cache) row(set uint64) []place {
	group := &c.rows[set/groupSets]
	if *group == nil {
		*group = make([]place, groupSets*c.geometry.Ways)
	}
	at := int(set%groupSets) * c.geometry.Ways
	return (*group)[at : at+c.geometry.Ways]
}

// find returns a cached line; the result has no block if the line is not cached.
func (c *Cache) find(number uint64) line {
	b := c.index.find(number / blockLines)
	if b == nil || b.state[number%blockLines] == 0 {
		return line{}
	}
	return line{b, number % blockLines}
}

// drop removes a line from its way and from its block.
func (c *Cache) drop(l line) {
	c.row(c.setOf(l.lineNumber()))[l.way[l.at%blockLines]] = 0
	l.state[l.at%blockLines] = 0
	if l.cached--; l.cached == 0 {
		c.index.forget(l.block)
		c.pool.free = append(c.pool.free, l.block)
	}
}

// put puts a line without bytes into an empty way of its set.
func (c *Cache) put(number, set uint64, way int, state uint8) line {
	b := c.index.find(number / blockLines)
	if b == nil {
		b = c.pool.get()
		b.number = number / blockLines
		c.index.put(b)
	}
	l := line{b, number % blockLines}
	b.state[l.at%blockLines], b.way[l.at%blockLines] = state, uint8(way)
	b.cached++
	at := c.pool.place(l)
	if state&pending != 0 {
		at |= placePending
	}
	c.row(set)[way] = at
	return l
}

// victim chooses a way of a set for a new line, among those in the mask `ways`. It also returns the line to be evicted
// from it, without a block if the way is empty. ok is false if all these ways wait for a fetch.
func (c *Cache) victim(set, ways uint64) (best line, way int, ok bool) {
	row := c.row(set)
	for i, at := range row {
		if at == 0 && ways>>i&1 != 0 {
			return line{}, i, true
		}
	}
	free := 0
	for i, at := range row {
		switch {
		case ways>>i&1 == 0 || at&placePending != 0:
		case c.random:
			free++
		default:
			if l := c.pool.line(at); free == 0 || *l.lastUsed() < *best.lastUsed() {
				best, way = l, i
			}
			free++
		}
	}
	if free == 0 {
		return line{}, 0, false
	}
	if c.random {
		way = c.draw(row, ways, free)
		best = c.pool.line(row[way])
	}
	return best, way, true
}

// draw chooses one of the free candidates among a set's ways, by a hash of the number of victims so
// far.
func (c *Cache) draw(row []place, ways uint64, free int) int {
	const step = 0x9e3779b97f4a7c15
	n := int(Mix(c.geometry.Seed+c.victims*step) % uint64(free))
	for i, at := range row {
		if ways>>i&1 != 0 && at&placePending == 0 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	panic("core: there are fewer free ways than were counted")
}

// Fill completes the fetch of a line: the line takes from `data` the bytes that it lacks.
func (c *Cache) Fill(number uint64, data []byte) error {
	l := c.find(number)
	if l.block == nil || !l.is(pending) || len(data) != mem.LineBytes {
		return fmt.Errorf("core: fill of line %#x with %d B: want %d B of a line that is being fetched", number,
			len(data), mem.LineBytes)
	}
	switch own, have := l.bytes(), *l.present(); {
	case !l.is(partial):
	case have == 0:
		copy(own, data)
	default:
		for i, v := range data {
			if have>>i&1 == 0 {
				own[i] = v
			}
		}
	}
	l.clear(pending | partial)
	c.row(c.setOf(number))[l.way[l.at%blockLines]] &^= placePending
	c.pending--
	return nil
}

// Fail drops a line whose fetch failed. lost reports that bytes written to the line during the
// fetch are lost.
func (c *Cache) Fail(number uint64) (lost bool, err error) {
	l := c.find(number)
	if l.block == nil || !l.is(pending) {
		return false, fmt.Errorf("core: failure of line %#x, which is not being fetched", number)
	}
	c.Counters[l.owner()].FailedFetches++
	lost = l.is(dirty)
	c.drop(l)
	c.pending--
	return lost, nil
}

// Peek copies to `b` those bytes of a line that are cached, and leaves the rest of `b` unchanged. It
// changes no counter.
func (c *Cache) Peek(number uint64, off int, b []byte) {
	c.overlap(number, off, b, func(own, b []byte) { copy(b, own) })
}

// Poke writes bytes of `b` over those bytes of a line that are cached. It changes no counter.
func (c *Cache) Poke(number uint64, off int, b []byte) {
	c.overlap(number, off, b, func(own, b []byte) { copy(own, b) })
}

func (c *Cache) overlap(number uint64, off int, b []byte, each func(own, b []byte)) {
	l := c.find(number)
	switch {
	case l.block == nil:
	case !l.is(partial):
		each(l.bytes()[off:off+len(b)], b)
	default:
		for i := range b {
			if *l.present()>>(off+i)&1 != 0 {
				each(l.bytes()[off+i:off+i+1], b[i:i+1])
			}
		}
	}
}

// Resident returns the number of lines in the cache, and how many of them are dirty.
func (c *Cache) Resident() (lines, dirtyLines int) {
	for _, chunk := range c.pool.chunks {
		for i := range chunk {
			for _, state := range chunk[i].state {
				if state != 0 {
					lines++
				}
				if state&dirty != 0 {
					dirtyLines++
				}
			}
		}
	}
	return lines, dirtyLines
}
