package core

import (
	"fmt"

	"nictwin/models/mem"
)

// groupSets is how many sets share an allocation for each of their ways.
const groupSets = 128

// State of a line, in the low bits of its tag.
const (
	held    = 1 << iota // there is a line
	dirty               // newer than memory
	pending             // the rest of it is being fetched
	byCore              // it belongs to a core, not to a device
	partial             // some of its bytes are not here

	stateBits = iota
)

// way is what a set knows of one of its ways. Those of a set are side by side: a step looks at all of them when it looks for a
// victim.
type way struct {
	tag  uint64 // number and state; 0: empty
	used uint64 // when it was used last, in steps
}

// content is the bytes of a way in a group of sets. The bytes of a line are all that a step on a whole line needs, and lie in one
// line of the cache of the processor that simulates, too.
type content struct {
	data [groupSets][mem.LineBytes]byte
	have [groupSets]uint64 // which of them are here, of lines that are partial
}

// line is a way of a set with its bytes; without a way it is none.
type line struct {
	*way
	data *[mem.LineBytes]byte
	have *uint64 // which of them are here, if it is partial
}

// lacks reports whether some of the bytes of a mask are not here.
func (l line) lacks(want uint64) bool { return l.tag&partial != 0 && *l.have&want != want }

// number is the address of a line divided by its size.
func (l *way) number() uint64 { return l.tag >> stateBits }

func (l *way) owner() mem.Agent {
	if l.tag&byCore != 0 {
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
	ways     [][]way    // by group of sets, then set and way; nil: never used
	contents []*content // by group of sets, then way, as a ring in few ways shall be close together; nil: never used
	index    directory
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
		ways: make([][]way, (n+groupSets-1)/groupSets), contents: make([]*content, (n+groupSets-1)/groupSets*uint64(g.Ways)),
		index: directory{runs: map[uint64]*run{}},
	}, nil
}

// Pending is the number of lines whose fetch is under way.
func (c *Cache) Pending() int { return c.pending }

// setOf is the set of a line.
func (c *Cache) setOf(number uint64) uint64 {
	if c.hashed {
		number = Mix(number)
	}
	if c.pow2 {
		return number & (c.sets - 1)
	}
	return number % c.sets
}

// set is the ways of a set.
func (c *Cache) set(set uint64) []way {
	group := &c.ways[set/groupSets]
	if *group == nil {
		*group = make([]way, groupSets*c.geometry.Ways)
	}
	at := int(set%groupSets) * c.geometry.Ways
	return (*group)[at : at+c.geometry.Ways]
}

// at is a way of a set, with its bytes.
func (c *Cache) at(set uint64, way int) line {
	group := &c.contents[int(set/groupSets)*c.geometry.Ways+way]
	if *group == nil {
		*group = new(content)
	}
	return line{&c.set(set)[way], &(*group).data[set%groupSets], &(*group).have[set%groupSets]}
}

// find looks for a line, which is none if it is not here.
func (c *Cache) find(number uint64) line {
	if way, ok := c.index.way(number); ok {
		return c.at(c.setOf(number), way)
	}
	return line{}
}

// drop empties a way.
func (c *Cache) drop(l *way) {
	c.index.forget(l.number())
	l.tag = 0
}

// victim chooses the way of a set that a line goes to. There is none if every way
// that may be used waits for its fetch.
func (c *Cache) victim(set, ways uint64) (best line, place int) {
	list := c.set(set)
	free := 0
	for i := range list {
		if ways>>i&1 == 0 {
			continue
		}
		switch w := &list[i]; {
		case w.tag == 0:
			return c.at(set, i), i
		case w.tag&pending != 0:
		default:
			if free++; free == 1 || w.used < list[place].used {
				place = i
			}
		}
	}
	if free == 0 {
		return line{}, 0
	}
	if c.random {
		place = c.draw(list, ways, free)
	}
	return c.at(set, place), place
}

// draw chooses among the free ways of a set by the number of victims so far.
func (c *Cache) draw(list []way, ways uint64, free int) int {
	const step = 0x9e3779b97f4a7c15
	n := int(Mix(c.geometry.Seed+c.victims*step) % uint64(free))
	for i := range list {
		if ways>>i&1 != 0 && list[i].tag&pending == 0 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	panic("core: there are fewer free ways than were counted")
}

// Fill gives the cache a line that it asked for: the bytes that it lacks.
func (c *Cache) Fill(number uint64, data []byte) error {
	l := c.find(number)
	if l.way == nil || l.tag&pending == 0 || len(data) != mem.LineBytes {
		return fmt.Errorf("core: fill of line %#x with %d B: want %d B of a line that is being fetched", number, len(data), mem.LineBytes)
	}
	switch {
	case l.tag&partial == 0:
	case *l.have == 0:
		copy(l.data[:], data)
	default:
		for i, v := range data {
			if *l.have>>i&1 == 0 {
				l.data[i] = v
			}
		}
	}
	l.tag &^= pending | partial
	c.pending--
	return nil
}

// Fail gives up on a line that memory does not give: it is dropped. lost says
// that bytes were written to it meanwhile.
func (c *Cache) Fail(number uint64) (lost bool, err error) {
	l := c.find(number)
	if l.way == nil || l.tag&pending == 0 {
		return false, fmt.Errorf("core: failure of line %#x, which is not being fetched", number)
	}
	c.Counters[l.owner()].FailedFetches++
	lost = l.tag&dirty != 0
	c.drop(l.way)
	c.pending--
	return lost, nil
}

// Peek copies the bytes of b that the cache has, and leaves the others. It
// counts as nothing.
func (c *Cache) Peek(number uint64, off int, b []byte) {
	c.overlap(number, off, b, func(own, b []byte) { copy(b, own) })
}

// Poke replaces bytes that the cache has by those of b. It counts as nothing.
func (c *Cache) Poke(number uint64, off int, b []byte) {
	c.overlap(number, off, b, func(own, b []byte) { copy(own, b) })
}

func (c *Cache) overlap(number uint64, off int, b []byte, each func(own, b []byte)) {
	l := c.find(number)
	switch {
	case l.way == nil:
	case l.tag&partial == 0:
		each(l.data[off:off+len(b)], b)
	default:
		for i := range b {
			if *l.have>>(off+i)&1 != 0 {
				each(l.data[off+i:off+i+1], b[i:i+1])
			}
		}
	}
}

// Resident counts the lines that are here, and those of them that are dirty.
func (c *Cache) Resident() (lines, dirtyLines int) {
	for _, group := range c.ways {
		for i := range group {
			if group[i].tag != 0 {
				lines++
			}
			if group[i].tag&dirty != 0 {
				dirtyLines++
			}
		}
	}
	return lines, dirtyLines
}
