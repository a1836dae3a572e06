package core

import "nictwin/models/mem"

// whole is the mask of all bytes of a line.
const whole = ^uint64(0)

// Request is an operation on bytes of one line.
type Request struct {
	Op   mem.Op
	By   mem.Agent
	Line uint64 // the address divided by mem.LineBytes
	Off  int    // of Data in the line
	Data []byte // of a Read or Write: 1 to 64 bytes that lie in the line
}

// Room is what the caller has room for.
type Room struct {
	Fetch     bool   // of one more line
	WriteBack []byte // mem.LineBytes for a line that goes back; nil: no room
}

// Kind is how a step went.
type Kind uint8

// The kinds.
const (
	Stalled Kind = iota // not done: nothing changed; try again after a Fill, or with more Room
	Hit                 // done: a read has its bytes, anything else has taken effect
	Joined              // a read whose bytes are there after the Fill of its line
	Bypass              // goes to memory; the cache has nothing to do with it
)

// Outcome is what a step did, and what it wants done.
type Outcome struct {
	Kind      Kind
	Fetch     bool   // read the line from memory and Fill it
	WriteBack bool   // write Room.WriteBack to memory, as line Victim
	Victim    uint64 // see WriteBack
}

// Step does one operation on one line, or finds that it cannot be done now.
func (c *Cache) Step(r *Request, room Room) Outcome {
	set := c.set(r.Line)
	p, here := c.find(set, r.Line)
	switch {
	case r.Op == mem.Read && here:
		return c.readHere(r, p)
	case r.Op == mem.Read:
		return c.readMiss(r, set, room)
	case r.Op == mem.Write && here:
		t := c.use(r, p)
		t.WriteHits++
		c.store(r, p)
		return Outcome{Kind: Hit}
	case r.Op == mem.Write:
		return c.writeMiss(r, set, room)
	}
	return c.maintain(r, p, here, room)
}

func bitsOf(r *Request) uint64 { return whole >> (mem.LineBytes - len(r.Data)) << r.Off }

// use counts a read or write, and that it used a line.
func (c *Cache) use(r *Request, p place) *Traffic {
	c.now++
	p.used[p.at] = c.now
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

func (c *Cache) readHere(r *Request, p place) Outcome {
	t := c.use(r, p)
	if want := bitsOf(r); p.have[p.at]&want != want {
		t.Joins++
		return Outcome{Kind: Joined}
	}
	t.ReadHits++
	copy(r.Data, p.bytes()[r.Off:])
	return Outcome{Kind: Hit}
}

func (c *Cache) readMiss(r *Request, set place, room Room) Outcome {
	if r.By == mem.Device {
		return c.bypass(r)
	}
	p, out := c.allocate(r, set, c.all, true, room)
	if out.Kind == Stalled {
		return out
	}
	c.use(r, p)
	out.Kind = Joined
	return out
}

func (c *Cache) bypass(r *Request) Outcome {
	t, n := c.count(r), uint64(len(r.Data))
	if r.Op == mem.Read {
		t.BypassReads++
		t.BypassReadBytes += n
	} else {
		t.BypassWrites++
		t.BypassWriteBytes += n
	}
	return Outcome{Kind: Bypass}
}

func (c *Cache) writeMiss(r *Request, set place, room Room) Outcome {
	ways := c.all
	if r.By == mem.Device {
		ways = c.geometry.DeviceWays
	}
	if ways == 0 {
		return c.bypass(r)
	}
	fetch := len(r.Data) < mem.LineBytes
	p, out := c.allocate(r, set, ways, fetch, room)
	if out.Kind == Stalled {
		return out
	}
	if t := c.use(r, p); !fetch {
		t.FullWrites++
	}
	c.store(r, p)
	return out
}

// store puts the bytes of a write into its line.
func (c *Cache) store(r *Request, p place) {
	copy(p.bytes()[r.Off:], r.Data)
	p.have[p.at] |= bitsOf(r)
	p.state[p.at] = p.state[p.at]&pending | dirty | ownerBit(r.By)
}

func ownerBit(by mem.Agent) uint8 {
	if by == mem.Core {
		return byCore
	}
	return 0
}

// allocate makes room for the line of a request, empty, and sends away what is
// there.
func (c *Cache) allocate(r *Request, set place, ways uint64, fetch bool, room Room) (place, Outcome) {
	p, ok := c.victim(set, ways)
	if !ok || fetch && !room.Fetch {
		return place{}, Outcome{}
	}
	out := Outcome{Kind: Hit, Fetch: fetch}
	if p.tag[p.at] != 0 {
		t := &c.Counters[p.owner()]
		if p.state[p.at]&dirty != 0 {
			if room.WriteBack == nil {
				return place{}, Outcome{}
			}
			copy(room.WriteBack, p.bytes())
			out.WriteBack, out.Victim = true, p.tag[p.at]-1
			t.EvictedDirty++
		}
		t.Evicted++
		c.victims++
	}
	p.tag[p.at], p.have[p.at], p.state[p.at] = r.Line+1, 0, ownerBit(r.By)
	if fetch {
		p.state[p.at] |= pending
		c.pending++
		c.Counters[r.By].Fetches++
	}
	return p, out
}

// maintain cleans or invalidates a line.
func (c *Cache) maintain(r *Request, p place, here bool, room Room) Outcome {
	t := &c.Counters[r.By]
	if here && p.state[p.at]&pending != 0 {
		return Outcome{}
	}
	isDirty := here && p.state[p.at]&dirty != 0
	if r.Op == mem.Clean {
		if isDirty && room.WriteBack == nil {
			return Outcome{}
		}
		t.Cleans++
		if !isDirty {
			return Outcome{Kind: Hit}
		}
		copy(room.WriteBack, p.bytes())
		p.state[p.at] &^= dirty
		c.Counters[p.owner()].CleanedLines++
		return Outcome{Kind: Hit, WriteBack: true, Victim: r.Line}
	}
	t.Invalidates++
	if here {
		o := &c.Counters[p.owner()]
		o.Dropped++
		if isDirty {
			o.DroppedDirty++
		}
		p.tag[p.at], p.state[p.at] = 0, 0
	}
	return Outcome{Kind: Hit}
}
