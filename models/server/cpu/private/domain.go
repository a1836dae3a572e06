package private

import (
	"fmt"
	"maps"
	"math/bits"
)

// WriteNotifier is a memory that caches share, such as a mem.Space or an armcache.Cache. It calls
// every f given to OnWrite after each write that takes effect.
type WriteNotifier interface {
	OnWrite(f func(addr uint64, n int))
}

// MaxCaches is the largest number of caches in a domain.
const MaxCaches = 64

// Domain keeps the private caches over one memory coherent. As a snoop filter, it records which
// cache has which line, so that a write to lines that no cache has costs next to nothing.
type Domain struct {
	caches []*Cache
	pages  map[uint64]*page
	latest *page  // page that was looked up last; nil: that page is not in pages
	number uint64 // number of the page looked up last
	held   int    // number of pages with cached lines
}

// page records which caches hold the lines of a piece of memory.
type page struct {
	cached  uint64            // bit i: some cache has line i
	holders [pageLines]uint64 // by line; bit i: caches[i] has the line
}

const (
	pageLines = 64
	fewPages  = 256 // number of pages that are kept even if no cache has a line of them
)

// NewDomain makes the domain of one memory, or of several with disjoint addresses.
func NewDomain(memories ...WriteNotifier) *Domain {
	d := &Domain{pages: map[uint64]*page{}, number: noPage}
	for _, m := range memories {
		m.OnWrite(d.written)
	}
	return d
}

// join adds a cache to the domain.
func (d *Domain) join(c *Cache) error {
	if len(d.caches) == MaxCaches {
		return fmt.Errorf("private: %s: its domain has %d caches, the most there can be", c.Name(), MaxCaches)
	}
	c.number = len(d.caches)
	d.caches = append(d.caches, c)
	return nil
}

// noPage is a number that no page has.
const noPage = ^uint64(0)

// find returns the page with a number, or nil. A page without cached lines may have been removed.
func (d *Domain) find(number uint64) *page {
	if number != d.number {
		d.latest, d.number = d.pages[number], number
	}
	return d.latest
}

// add records that a cache has a line.
func (d *Domain) add(c *Cache, line uint64) {
	p := d.find(line / pageLines)
	if p == nil {
		p = d.open(line / pageLines)
	}
	if p.cached == 0 {
		d.held++
	}
	p.cached |= 1 << (line % pageLines)
	p.holders[line%pageLines] |= 1 << c.number
}

// open makes a page. It removes the empty pages if they are more than half.
func (d *Domain) open(number uint64) *page {
	if len(d.pages) >= 2*d.held+fewPages {
		maps.DeleteFunc(d.pages, func(_ uint64, p *page) bool { return p.cached == 0 })
	}
	p := new(page)
	d.pages[number] = p
	d.latest, d.number = p, number
	return p
}

// remove records that a cache no longer has a line.
func (d *Domain) remove(c *Cache, line uint64) {
	p := d.find(line / pageLines)
	if p.holders[line%pageLines] &^= 1 << c.number; p.holders[line%pageLines] != 0 {
		return
	}
	if p.cached &^= 1 << (line % pageLines); p.cached == 0 {
		d.held--
	}
}

// written removes written lines from all caches, except from those that have a write to the line in
// flight.
func (d *Domain) written(addr uint64, n int) {
	first, last := addr/lineBytes, (addr+uint64(n)-1)/lineBytes
	for number := first / pageLines; number <= last/pageLines; number++ {
		p := d.find(number)
		if p == nil {
			continue
		}
		lines := p.cached
		if number == first/pageLines {
			lines &= ^uint64(0) << (first % pageLines)
		}
		if number == last/pageLines {
			lines &= ^uint64(0) >> (pageLines - 1 - last%pageLines)
		}
		for ; lines != 0; lines &= lines - 1 {
			i := bits.TrailingZeros64(lines)
			d.invalidate(number*pageLines+uint64(i), p.holders[i])
		}
	}
}

// invalidate removes a written line from its holders, except from those that have a write to it in
// flight.
func (d *Domain) invalidate(line, holders uint64) {
	for ; holders != 0; holders &= holders - 1 {
		if c := d.caches[bits.TrailingZeros64(holders)]; !c.writes(line) {
			c.stats.Snooped++
			c.drop(line)
		}
	}
}
