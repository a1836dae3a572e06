package private

import (
	"fmt"
	"math/bits"
)

// Snooper tells of every write that takes effect in the memory that caches
// share: a mem.Space, an armcache.Cache.
type Snooper interface {
	Snoop(f func(addr uint64, n int))
}

// MaxCaches is the most caches of one domain.
const MaxCaches = 64

// Domain keeps the private caches over one memory coherent. It knows which
// cache has which line (a snoop filter), so that a write that is in none of
// them costs next to nothing.
type Domain struct {
	caches []*Cache
	slots  []slot // hash table of lines: linear probing
	shift  int
	lines  int // that the caches can have in all
}

// slot is a line, and who has it; nobody: the slot is empty.
type slot struct {
	line    uint64
	holders uint64 // bit i: caches[i]
}

// NewDomain makes the domain of a memory, or of several that share no address.
func NewDomain(memories ...Snooper) *Domain {
	d := new(Domain)
	for _, m := range memories {
		m.Snoop(d.written)
	}
	return d
}

// join adds a cache that is empty.
func (d *Domain) join(c *Cache) error {
	if len(d.caches) == MaxCaches {
		return fmt.Errorf("private: %s: its domain has %d caches, the most there can be", c.Name(), MaxCaches)
	}
	c.number = len(d.caches)
	d.caches = append(d.caches, c)
	d.lines += len(c.tags)
	old, log := d.slots, max(bits.Len(uint(2*d.lines)), nearBits)
	if len(old) == 1<<log {
		return nil
	}
	d.slots, d.shift = make([]slot, 1<<log), 64-(log-nearBits)
	for _, s := range old {
		if s.holders != 0 {
			d.slots[d.find(s.line)] = s
		}
	}
	return nil
}

// nearBits is how many low bits of a line's number are left as they are in its place: neighbours are used one after the other,
// and the table is large.
const nearBits = 3

func (d *Domain) home(line uint64) int {
	return int(line>>nearBits*0x9e3779b97f4a7c15>>d.shift<<nearBits | line&(1<<nearBits-1))
}

// find is the place of a line, or the empty one where it belongs.
func (d *Domain) find(line uint64) int {
	i := d.home(line)
	for d.slots[i].holders != 0 && d.slots[i].line != line {
		i = (i + 1) & (len(d.slots) - 1)
	}
	return i
}

// add notes that a cache has a line.
func (d *Domain) add(c *Cache, line uint64) {
	s := &d.slots[d.find(line)]
	s.line = line
	s.holders |= 1 << c.number
}

// remove notes that a cache has a line no longer.
func (d *Domain) remove(c *Cache, line uint64) {
	gap := d.find(line)
	if d.slots[gap].holders &^= 1 << c.number; d.slots[gap].holders != 0 {
		return
	}
	// Close the gap: move up whoever could not have its own place.
	mask := len(d.slots) - 1
	for i := (gap + 1) & mask; d.slots[i].holders != 0; i = (i + 1) & mask {
		if home := d.home(d.slots[i].line); (i-home)&mask >= (i-gap)&mask {
			d.slots[gap], d.slots[i] = d.slots[i], slot{}
			gap = i
		}
	}
}

// written takes the lines of a write from all caches but the writer's.
func (d *Domain) written(addr uint64, n int) {
	for line, last := addr/lineBytes, (addr+uint64(n)-1)/lineBytes; line <= last && len(d.slots) > 0; line++ {
		holders := d.slots[d.find(line)].holders
		for h := holders; h != 0; h &= h - 1 {
			if c := d.caches[bits.TrailingZeros64(h)]; !c.writes(line) {
				c.stats.Snooped++
				c.drop(line)
			}
		}
	}
}
