package private

import "nictwin/models/memory/mem"

// set returns the tags of the set that a line belongs to.
func (c *Cache) set(line uint64) []tag {
	at := line % c.sets * uint64(c.spec.Ways)
	return c.tags[at : at+uint64(c.spec.Ways)]
}

// find returns the tag of a line that is cached or being fetched, else nil.
func (c *Cache) find(line uint64) *tag {
	set := c.set(line)
	for i := range set {
		if set[i].line == line && set[i].is != absent {
			return &set[i]
		}
	}
	return nil
}

// allocate gives a line a tag, in place of the least recently used one. A line that is present
// already does not go back to fetching.
func (c *Cache) allocate(line uint64, is presence) {
	c.clock++
	t := c.find(line)
	if t == nil {
		t = c.victim(line)
		if t.is != absent {
			c.domain.remove(c, t.line)
		}
		*t = tag{line: line, is: is}
		c.domain.add(c, line)
	}
	t.is, t.used = max(t.is, is), c.clock
}

func (c *Cache) victim(line uint64) *tag {
	set := c.set(line)
	best := &set[0]
	for i := range set {
		if t := &set[i]; t.is == absent {
			return t
		} else if t.used < best.used {
			best = t
		}
	}
	return best
}

// drop removes a line.
func (c *Cache) drop(line uint64) {
	if t := c.find(line); t != nil {
		t.is = absent
		c.domain.remove(c, line)
	}
}

// dropAll removes the lines of an Invalidate.
func (c *Cache) dropAll(a *mem.Access) {
	if a.Op != mem.Invalidate || a.Span == 0 {
		return
	}
	first, last := span(a)
	if last-first >= uint64(len(c.tags)) { // the access covers more lines than there are tags: scan the tags instead
		for i := range c.tags {
			if t := &c.tags[i]; t.is != absent && t.line >= first && t.line <= last {
				c.drop(t.line)
			}
		}
		return
	}
	for line := first; line <= last; line++ {
		c.drop(line)
	}
}

// writes reports whether a write of this cache to a line is in flight.
func (c *Cache) writes(line uint64) bool {
	for _, p := range c.stores {
		if _, last := span(p.From); p.Len() > 0 && line >= (p.From.Addr+uint64(p.Past))/lineBytes && line <= last {
			return true
		}
	}
	return false
}
