package probe

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/gpu"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/server/host"
	"nictwin/scenarios/run/probe/classes"
)

// memory lists the memories and cores of a card and its server.
func (w *Watch) memory(p *place) (list []Counter) {
	for _, x := range []struct {
		endpoint int
		name     string
	}{{nicspec.EndpointHost, "host"}, {nicspec.EndpointArm, "Arm"}} {
		m := memories{p.at, x.name, x.endpoint, w.Memory[p.server]}
		if h := p.card.Memory.Host(x.endpoint); h != nil {
			list = append(list, m.server(h)...)
			continue
		}
		if d := p.card.Memory.DRAM(x.endpoint); d != nil {
			list = append(list, m.drams(x.name, d)...)
		}
		if l := p.card.Memory.Cache(x.endpoint); l != nil {
			list = append(list, m.caches(x.name, l)...)
		}
	}
	for i := 0; p.card.Memory.GPU(i) != nil; i++ {
		list = append(list, gpuLink(p.at, i, p.card.Memory.GPU(i))...)
	}
	return list
}

// gpuLink lists the bytes on the link of a GPU's memory, with headers.
func gpuLink(at string, i int, g *gpu.Memory) []Counter {
	name := fmt.Sprintf("GPU %d", i)
	return []Counter{
		{Picture: Links, Where: at, What: "host to " + name, Unit: Bytes, Sparse: true,
			Read: func() uint64 { return g.Stats().ThereBytes }},
		{Picture: Links, Where: at, What: name + " to host", Unit: Bytes, Sparse: true,
			Read: func() uint64 { return g.Stats().BackBytes }},
	}
}

// memories lists counters of an endpoint.
type memories struct {
	at, name string
	endpoint int
	uses     *classes.Memory
}

// server lists the counters of a machine with cores, each socket apart if there are several.
func (m *memories) server(h *host.Server) (list []Counter) {
	socket := func(i int) string {
		if len(h.DRAM) > 1 {
			return fmt.Sprintf("%s socket %d", m.name, i)
		}
		return m.name
	}
	for i, d := range h.DRAM {
		list = append(list, m.drams(socket(i), d)...)
	}
	for i, l := range h.LLC {
		if l != nil {
			list = append(list, m.caches(socket(i), l)...)
		}
	}
	for i, c := range h.Used() {
		list = append(list, m.core(fmt.Sprintf("%s core %d", m.name, i), c)...)
	}
	return list
}

// core lists the counters of a core, and profiles it from now on.
func (m *memories) core(name string, c *host.Core) []Counter {
	list := []Counter{
		{Picture: Cores, Where: m.at, What: name, Unit: Time, Read: func() uint64 { return uint64(c.BusyTime()) }},
		{Picture: Private, Where: m.at, What: name + " cache read from memory", Unit: Bytes, Sparse: true,
			Read: func() uint64 { return c.Private.Stats().MemoryRead }},
		{Picture: Private, Where: m.at, What: name + " cache written to memory", Unit: Bytes, Sparse: true,
			Read: func() uint64 { return c.Private.Stats().MemoryWritten }},
		{Picture: Lookups, Where: m.at, What: name + " cache hits", Unit: Lines, Sparse: true,
			Read: func() uint64 { return c.Private.Stats().Hits }},
		{Picture: Lookups, Where: m.at, What: name + " cache misses", Unit: Lines, Sparse: true,
			Read: func() uint64 { return c.Private.Stats().Misses }},
	}
	c.Profile()
	for a := cpu.Same + 1; a < cpu.NumActivities; a++ {
		list = append(list, Counter{Picture: Activities, Where: m.at, What: name + " " + a.String(), Unit: Time,
			Sparse: true, Read: func() uint64 { return uint64(c.TimeIn(a)) }})
	}
	return list
}

// drams lists the counters of a DRAM. Those of its channels include the bytes of background loads, the others do not.
func (m *memories) drams(name string, d *dram.DRAM) (list []Counter) {
	add := func(what string, read func(n *dram.Counters) uint64) {
		list = append(list, Counter{Picture: Memory, Where: m.at, What: name + " DRAM " + what, Unit: Bytes,
			Read: func() uint64 {
				n := d.Counters()
				return read(&n)
			}})
	}
	add("read", func(n *dram.Counters) uint64 { return n.ReadBytes - n.LoadRead })
	add("written", func(n *dram.Counters) uint64 { return n.WrittenBytes - n.LoadWritten })
	add("read by loads", func(n *dram.Counters) uint64 { return n.LoadRead })
	add("written by loads", func(n *dram.Counters) uint64 { return n.LoadWritten })
	for i := range d.Channels() {
		what := fmt.Sprintf("%s DRAM channel %d ", name, i)
		list = append(list, Counter{Picture: Channels, Where: m.at, What: what + "read", Unit: Bytes, Sparse: true,
			Read: func() uint64 { n, _ := d.Channel(i); return n }},
			Counter{Picture: Channels, Where: m.at, What: what + "written", Unit: Bytes, Sparse: true,
				Read: func() uint64 { _, n := d.Channel(i); return n }})
	}
	return list
}

// caches lists the counters of a last-level cache, by the agent that reads and writes, devices or cores, and the lines
// that it holds, by their owner and by whether they are I/O buffers.
func (m *memories) caches(name string, l *armcache.Cache) (list []Counter) {
	for agent := range mem.Agents {
		by := fmt.Sprintf("%s LLC %v ", name, mem.Agent(agent))
		add := func(picture, what, unit string, read func(t *core.Traffic) uint64) {
			list = append(list, Counter{Picture: picture, Where: m.at, What: by + what, Unit: unit,
				Sparse: picture != Memory, Read: func() uint64 { n := l.Counters(); return read(&n[agent]) }})
		}
		add(Memory, "read", Bytes, func(t *core.Traffic) uint64 { return t.ReadBytes })
		add(Memory, "written", Bytes, func(t *core.Traffic) uint64 { return t.WriteBytes })
		add(Lookups, "read hits", Lines, func(t *core.Traffic) uint64 { return t.ReadHits })
		add(Lookups, "read misses", Lines, func(t *core.Traffic) uint64 { return t.Reads - t.ReadHits })
		add(Lookups, "I/O buffers read hits", Lines, func(t *core.Traffic) uint64 { return t.BufferHits })
		add(Lookups, "I/O buffers read misses", Lines,
			func(t *core.Traffic) uint64 { return t.BufferReads - t.BufferHits })
		add(Lookups, "write hits", Lines, func(t *core.Traffic) uint64 { return t.WriteHits })
		add(Lookups, "write misses", Lines, func(t *core.Traffic) uint64 { return t.Writes - t.WriteHits })
		add(Memory, "filled from memory", Bytes, (*core.Traffic).FillBytes)
		add(Memory, "written back", Bytes, (*core.Traffic).WriteBackBytes)
	}
	return append(list, m.occupancy(name, l)...)
}

// CountBuffers makes the last-level caches of a server count lookups of I/O buffers apart.
func CountBuffers(s *board.Server, m *classes.Memory) {
	for _, c := range s.Cards {
		for _, endpoint := range []int{nicspec.EndpointHost, nicspec.EndpointArm} {
			list := []*armcache.Cache{c.Memory.Cache(endpoint)}
			if h := c.Memory.Host(endpoint); h != nil {
				list = h.LLC
			}
			for _, l := range list {
				if l != nil {
					l.CountBuffers(func(addr uint64) bool { return m.IsBuffer(mem.Bus(endpoint, addr)) })
				}
			}
		}
	}
}

// occupancy lists the lines of a cache. The first counter of a row walks the cache; the others return its results.
func (m *memories) occupancy(name string, l *armcache.Cache) (list []Counter) {
	found := new([mem.Agents][2]uint64)
	walk := func() {
		*found = [mem.Agents][2]uint64{}
		l.Each(func(addr uint64, owner mem.Agent) {
			buffer := 0
			if m.uses.IsBuffer(mem.Bus(m.endpoint, addr)) {
				buffer = 1
			}
			found[owner][buffer]++
		})
	}
	for agent := range mem.Agents {
		for buffer, what := range []string{"other lines", "I/O buffers"} {
			first := len(list) == 0
			list = append(list, Counter{Picture: Occupancy, Where: m.at,
				What: fmt.Sprintf("%s LLC %v, %s", name, mem.Agent(agent), what), Unit: Lines, Level: true,
				Sparse: true, Read: func() uint64 {
					if first {
						walk()
					}
					return found[agent][buffer]
				}})
		}
	}
	return list
}
