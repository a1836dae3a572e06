package core

import "nictwin/models/memory/mem"

// whole is the mask with a bit for every byte of a line.
const whole = ^uint64(0)

// Request is an operation on some bytes of one line.
type Request struct {
	Op   mem.Op
	By   mem.Agent
	Line uint64 // the address divided by mem.LineBytes
	Off  int    // offset of Data in the line
	Data []byte // for Read and Write: 1 to 64 bytes that lie in the line

	Again bool // a Read of a line that its initiator has, or is already reading: no further lookup of a buffer
}

// Room tells a step which of its side effects the caller can carry out.
type Room struct {
	Fetch     bool   // the caller can fetch one more line
	WriteBack []byte // buffer of mem.LineBytes for a line to be written back; nil: the caller can write none back
}

// Kind is the way in which a step ended.
type Kind uint8

// Values of Kind.
const (
	Stalled Kind = iota // nothing was done; try again after a Fill, or with more Room
	Hit                 // done: a read has its bytes, another operation has taken effect
	Joined              // a read whose bytes will be present after the Fill of its line
	Bypass              // the caller must access memory instead; the cache is unchanged
)

// Outcome is the result of a step, with the memory accesses that the caller must make.
type Outcome struct {
	Kind      Kind
	Fetch     bool   // read the line from memory and call Fill
	WriteBack bool   // write the bytes in Room.WriteBack to line Victim
	Victim    uint64 // number of the line to be written back
}

// Step does one operation on one line. If that is not possible now, it changes nothing and returns
// Stalled.
func (c *Cache) Step(r *Request, room Room) Outcome {
	l := c.find(r.Line)
	switch {
	case r.Op == mem.Read && l.block != nil:
		return c.readHere(r, l)
	case r.Op == mem.Read:
		return c.readMiss(r, room)
	case r.Op == mem.Write && l.block != nil:
		t := c.use(r, l)
		t.WriteHits++
		l.store(r)
		return Outcome{Kind: Hit}
	case r.Op == mem.Write:
		return c.writeMiss(r, room)
	}
	return c.maintain(r, l, room)
}

func bitsOf(r *Request) uint64 { return whole >> (mem.LineBytes - len(r.Data)) << r.Off }

// use counts a read or write, and updates the LRU time of its line.
func (c *Cache) use(r *Request, l line) *Traffic {
	c.now++
	*l.lastUsed() = c.now
	return c.count(r)
}

func (c *Cache) count(r *Request) *Traffic {
	t := &c.Counters[r.By]
	if r.Op == mem.Read {
		t.Reads++
		t.ReadBytes += uint64(len(r.Data))
	} else {
		t.Writes++
		t.WriteBytes += uint64(len(r.Data))
	}
	return t
}

// countBuffer counts a read of a line in an I/O buffer.
func (c *Cache) countBuffer(r *Request, t *Traffic, hit bool) {
	if c.IsBuffer == nil || r.Again || !c.IsBuffer(r.Line) {
		return
	}
	t.BufferReads++
	if hit {
		t.BufferHits++
	}
}

func (c *Cache) readHere(r *Request, l line) Outcome {
	t, hit := c.use(r, l), !l.lacks(bitsOf(r))
	c.countBuffer(r, t, hit)
	if !hit {
		t.Joins++
		return Outcome{Kind: Joined}
	}
	t.ReadHits++
	copy(r.Data, l.bytes()[r.Off:])
	return Outcome{Kind: Hit}
}

func (c *Cache) readMiss(r *Request, room Room) Outcome {
	if r.By == mem.Device {
		return c.bypass(r)
	}
	l, out := c.allocate(r, c.all, true, room)
	if out.Kind == Stalled {
		return out
	}
	c.countBuffer(r, c.use(r, l), false)
	out.Kind = Joined
	return out
}

func (c *Cache) bypass(r *Request) Outcome {
	t, n := c.count(r), uint64(len(r.Data))
	if r.Op == mem.Read {
		c.countBuffer(r, t, false)
		t.BypassReads++
		t.BypassReadBytes += n
	} else {
		t.BypassWrites++
		t.BypassWriteBytes += n
	}
	return Outcome{Kind: Bypass}
}

func (c *Cache) writeMiss(r *Request, room Room) Outcome {
	ways := c.all
	if r.By == mem.Device {
		ways = c.geometry.DeviceWays
	}
	if ways == 0 {
		return c.bypass(r)
	}
	fetch := len(r.Data) < mem.LineBytes
	l, out := c.allocate(r, ways, fetch, room)
	if out.Kind == Stalled {
		return out
	}
	if t := c.use(r, l); !fetch {
		t.FullWrites++
	}
	l.store(r)
	return out
}

// store copies the bytes of a write into the line.
func (l line) store(r *Request) {
	copy(l.bytes()[r.Off:], r.Data)
	if l.is(partial) {
		have := l.present()
		if *have |= bitsOf(r); *have == whole {
			l.clear(partial)
		}
	}
	l.clear(byCore)
	l.set(dirty | ownerBit(r.By))
}

func ownerBit(by mem.Agent) uint8 {
	if by == mem.Core {
		return byCore
	}
	return 0
}

// allocate creates a line without bytes for a request, and evicts the line that occupied its way.
func (c *Cache) allocate(r *Request, ways uint64, fetch bool, room Room) (line, Outcome) {
	set := c.setOf(r.Line)
	old, way, ok := c.victim(set, ways)
	if !ok || fetch && !room.Fetch {
		return line{}, Outcome{}
	}
	out := Outcome{Kind: Hit, Fetch: fetch}
	if old.block != nil {
		t := &c.Counters[old.owner()]
		if old.is(dirty) {
			if room.WriteBack == nil {
				return line{}, Outcome{}
			}
			copy(room.WriteBack, old.bytes())
			out.WriteBack, out.Victim = true, old.lineNumber()
			t.EvictedDirty++
		}
		t.Evicted++
		c.victims++
		c.drop(old)
	}
	state := held | ownerBit(r.By)
	if fetch {
		state |= pending | partial
		c.pending++
		c.Counters[r.By].Fetches++
	}
	l := c.put(r.Line, set, way, state)
	if fetch {
		*l.present() = 0
	}
	return l, out
}

// maintain cleans or invalidates a line; l has no block if the line is not cached.
func (c *Cache) maintain(r *Request, l line, room Room) Outcome {
	t := &c.Counters[r.By]
	if l.block != nil && l.is(pending) {
		return Outcome{}
	}
	isDirty := l.block != nil && l.is(dirty)
	if r.Op == mem.Clean {
		if isDirty && room.WriteBack == nil {
			return Outcome{}
		}
		t.Cleans++
		if !isDirty {
			return Outcome{Kind: Hit}
		}
		copy(room.WriteBack, l.bytes())
		l.clear(dirty)
		c.Counters[l.owner()].CleanedLines++
		return Outcome{Kind: Hit, WriteBack: true, Victim: r.Line}
	}
	t.Invalidates++
	if l.block != nil {
		o := &c.Counters[l.owner()]
		o.Dropped++
		if isDirty {
			o.DroppedDirty++
		}
		c.drop(l)
	}
	return Outcome{Kind: Hit}
}
