package armcache

import (
	"errors"
	"fmt"

	"nictwin/models/memory/mem"
)

// Watch calls f after every write access that takes effect here and touches the n bytes at addr, as
// mem.Watches does. The range must lie in memory.
func (c *Cache) Watch(addr uint64, n int, f func(addr uint64, n int)) (stop func(), err error) {
	return c.watches.WatchIn(c.memory, addr, n, f)
}

// OnWrite calls f after every write access that takes effect here, as mem.Watches does.
func (c *Cache) OnWrite(f func(addr uint64, n int)) { c.watches.OnWrite(f) }

var errNoBackdoor = errors.New("the memory behind it shows its bytes to accesses only")

// Read implements mem.Backdoor: it returns what a read access that took its turn now would return.
func (c *Cache) Read(addr uint64, b []byte) error {
	if err := c.opened(mem.Read, addr, b); err != nil {
		return err
	}
	if err := c.backdoor.Read(addr, b); err != nil {
		return err
	}
	for _, s := range c.outgoing {
		if own, b := overlap(s, addr, b); s.Op == mem.Write {
			copy(b, own)
		}
	}
	c.eachLine(addr, b, c.lines.Peek)
	return nil
}

// Write implements mem.Backdoor: it changes the bytes in every place that has a copy: lines,
// transfers in flight, and memory.
func (c *Cache) Write(addr uint64, b []byte) error {
	if err := c.opened(mem.Write, addr, b); err != nil {
		return err
	}
	if err := c.backdoor.Write(addr, b); err != nil {
		return err
	}
	for _, s := range c.outgoing {
		if own, b := overlap(s, addr, b); s.own != nil {
			copy(own, b)
		}
	}
	c.eachLine(addr, b, c.lines.Poke)
	return nil
}

func (c *Cache) opened(op mem.Op, addr uint64, b []byte) error {
	if c.backdoor == nil {
		return fmt.Errorf("armcache: %s: %v of %d B at %#x past time: %w", c.Name(), op, len(b), addr, errNoBackdoor)
	}
	return nil
}

// overlap returns the parts of a transfer's data and of b (which begins at addr) that have the same
// addresses.
func overlap(s *sent, addr uint64, b []byte) (own, other []byte) {
	from, to := max(s.Addr, addr), min(s.Addr+uint64(len(s.Data)), addr+uint64(len(b)))
	if from >= to {
		return nil, nil
	}
	return s.Data[from-s.Addr : to-s.Addr], b[from-addr : to-addr]
}

func (c *Cache) eachLine(addr uint64, b []byte, f func(line uint64, off int, b []byte)) {
	for len(b) > 0 {
		off := int(addr % lineBytes)
		n := min(lineBytes-off, len(b))
		f(addr/lineBytes, off, b[:n])
		addr, b = addr+uint64(n), b[n:]
	}
}
